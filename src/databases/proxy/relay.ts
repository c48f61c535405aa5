// A session: bytes go both ways as they come. The headers of messages say where a message begins, so that the proxy can
// end a session between two messages with an error that the driver shows.
import type { Socket } from 'node:net'
import { takeBytes } from '#wire/direct-bytes.ts'
import type { FrameScanner } from '#wire/frames.ts'
import { ProtocolState } from './protocol-state.ts'
import { fatalMessage, message, TYPE, violation, type FatalError } from '#wire/messages.ts'

/** The state of the backend after a session: free for another client, of no use, or gone. */
export type SessionEnd = 'idle' | 'busy' | 'backend-gone'

export interface Relay {
  readonly ended: Promise<SessionEnd>
  /** Ends the session with an error, between two messages of the server. */
  cut(error: FatalError): void
}

/** A server that does not come to the end of a message in this time is not waited for. */
const BOUNDARY_MS = 1000
/** As client_connection_check_interval of the servers. */
const PROBE_MS = 1000
/**
 * Sent to a client that is not read from while the server takes no more: only a write tells whether it is there. This
 * parameter never changes, and ParameterStatus may come at any time (PostgreSQL 16, chapter 55.2.7).
 */
export const STILL_THERE = message(TYPE.parameterStatus, 'integer_datetimes', 'on')

/** PostgreSQL kills its other sessions with a notice, which drivers do not show. */
const CRASHED: FatalError = {
  code: '57P02',
  message: 'the server ended the session unexpectedly',
  hint: 'Connect again: committed rows are kept. Queries that together need more memory than the server has end all sessions.',
}
const NO_MESSAGE = violation('invalid message length')

/** `relayed` is called after each piece, with its bytes. */
export function relay(client: Socket, backend: Socket, relayed: (bytes: number) => void): Relay {
  const state = new ProtocolState()
  const { fromClient, fromServer } = state
  let hasEnded = false
  let fatal: FatalError | undefined
  let giveBack: () => void = () => undefined
  const { promise: ended, resolve: finish } = Promise.withResolvers<SessionEnd>()
  const hold = createHold(client, fromServer)

  const stop = (end: SessionEnd) => {
    // The backend may have another client by now.
    if (hasEnded) return
    hasEnded = true
    hold.end()
    client.off('close', leave).off('end', leave).off('drain', readServer)
    backend.off('close', lose).off('drain', readClient)
    giveBack()
    backend.pause()
    if (!client.destroyed) client.destroySoon()
    finish(end)
  }
  const leave = () => stop(state.isIdle ? 'idle' : 'busy')
  const endWith = (end: SessionEnd, words = fatal) => {
    if (words !== undefined && fromServer.isAtBoundary) client.write(fatalMessage(words))
    stop(end)
  }
  const lose = () => endWith('backend-gone', fatal ?? (state.isRefused ? undefined : CRASHED))
  const readServer = () => void backend.resume()
  const readClient = () => void client.resume()
  const toServer = (chunk: Buffer) => {
    // The rest of a client that has left is of no interest.
    if (hasEnded) return
    const passing = scanned(fromClient, chunk)
    if (passing === undefined) return endWith('busy', fatal ?? NO_MESSAGE)
    if (passing.length > 0 && !backend.write(Buffer.from(passing))) hold.begin()
    relayed(chunk.length)
    if (state.isLeaving) leave()
  }
  const toClient = (chunk: Buffer) => {
    if (hasEnded) return
    const passing = scanned(fromServer, chunk)
    if (passing === undefined) return stop('busy')
    if (!client.write(Buffer.from(passing))) backend.pause()
    relayed(chunk.length)
    if (fatal !== undefined && fromServer.isAtBoundary) endWith('busy')
  }
  client.on('close', leave).on('end', leave).on('drain', readServer)
  backend.on('close', lose).on('drain', readClient)
  giveBack = takeBytes(backend, toClient)
  takeBytes(client, toServer)
  return {
    ended,
    cut(error) {
      if (fatal !== undefined) return
      fatal = error
      if (fromServer.isAtBoundary) return endWith('busy')
      setTimeout(() => stop('busy'), BOUNDARY_MS).unref()
    },
  }
}

/** Reads no more from a client until it is resumed, and sees to it meanwhile that a client that goes is noticed. */
function createHold(client: Socket, fromServer: FrameScanner): { begin(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined
  const probe = () => {
    const canSay = fromServer.isAtBoundary && client.writableLength === 0
    if (client.isPaused() && canSay) client.write(STILL_THERE)
  }
  return {
    begin() {
      client.pause()
      timer ??= setInterval(probe, PROBE_MS).unref()
    },
    end: () => clearInterval(timer),
  }
}

/** The bytes that may be sent on; undefined where they are no messages. */
function scanned(scanner: FrameScanner, chunk: Buffer): Buffer | undefined {
  try {
    return scanner.scan(chunk)
  } catch {
    return undefined
  }
}
