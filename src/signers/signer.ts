// One signer: an HTTP server on a unix socket around a share, a guard and a pool of nonces. Handlers
// are synchronous from the parsed request to the answer, fsync included: this process has nothing else
// to do, and no two requests can interleave between a check and the act that it allows.
import { mkdirSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { ErgonError, messageOf } from '#base/errors.ts'
import { lockFile, type FileLock } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'
import { readWhole, sendJson, serveUnix } from '#base/unix-server.ts'
import { originOf } from '#tlog/checkpoint.ts'
import { handoverBody } from '#tlog/handover.ts'
import { frontierRoot } from '#tlog/tree.ts'
import { createDkg, type Dkg } from './dkg.ts'
import { publicKeyOf, type KeyShare } from './frost-key.ts'
import { openShare, type ShareHolder } from './frost-signing.ts'
import { createGuard, type Guard } from './guard.ts'
import { openKeyStore, type KeyStore } from './keystore.ts'
import { createNonces, type NoncePool } from './nonces.ts'
import {
  BODY_BYTES_MAX,
  decodeLeaves,
  refusal,
  type CommitRequest,
  type FinishRequest,
  type NoteRequest,
  type RefusalReply,
  type Round1Request,
  type Round2Request,
  type Round3Request,
  type SignRequest,
  type Status,
} from './wire.ts'

/** `index` is 1 to 5; `folder` is the signer's own; `socket` is where it listens. */
export type SignerConfig = {
  readonly index: number
  readonly folder: string
  readonly socket: string
}

export type Signer = { close(): Promise<void> }

const CONNECTIONS_MAX = 16
const CALLS_MAX = 16
const REQUEST_TIMEOUT_MS = 10_000

/** Starts a signer; resolves when it listens. Throws `locked` when another process has the folder. */
export async function startSigner(config: SignerConfig, log: Logger): Promise<Signer> {
  mkdirSync(config.folder, { recursive: true, mode: 0o700 })
  // Two signers on one folder could sign two histories with one share.
  const lock = await lockFile(join(config.folder, 'lock'))
  try {
    return await serve(config, lock, log)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function serve(config: SignerConfig, lock: FileLock, log: Logger): Promise<Signer> {
  const service = createService(config)
  const refusals = new Map<string, string>()
  const server = await serveUnix(
    {
      socket: config.socket,
      // The folder decides who may come in; the socket itself admits owner and group.
      mode: 0o660,
      connectionsMax: CONNECTIONS_MAX,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    },
    (request, response) => void answer(service, { request, response }, { log, refusals }),
  )
  log.info('Signer listens', { index: config.index, key: service.status().active !== null })
  return {
    close: async () => {
      await server.close()
      await lock.release()
    },
  }
}

/** The operations of a signer that has its share. */
type ReadySigner = {
  readonly active: KeyShare
  readonly guard: Guard
  readonly nonces: NoncePool
  readonly share: ShareHolder
  /** The one statement that the signer signs beside tree heads: the handover to the key of its next share. */
  handover(): string | undefined
}

type Service = {
  status(): Status
  readonly dkg: Dkg
  ready(): ReadySigner
}

function createService({ index, folder }: SignerConfig): Service {
  const store = openKeyStore(folder)
  const dkg = createDkg(index, store)
  let made: ReadySigner | undefined
  const ready = (): ReadySigner => {
    if (store.active === undefined) throw refusal('no_key', 'This signer has no key yet')
    // A new share starts with nonces of its own and without signatures.
    if (made?.active !== store.active) made = makeReady(index, store, store.active)
    return made
  }
  return { dkg, ready, status: () => statusOf(index, store, store.active && ready().guard) }
}

function makeReady(index: number, store: KeyStore, active: KeyShare): ReadySigner {
  const share = openShare(index, active)
  const guard = createGuard({
    publicKey: publicKeyOf(active.group),
    signed: store.signed,
    note: store.note,
    save: (head) => store.saveSigned(head),
    saveNote: (note) => store.saveNote(note),
  })
  return {
    active,
    share,
    guard,
    nonces: createNonces(share),
    handover: () =>
      store.pending && handoverBody(publicKeyOf(active.group), publicKeyOf(store.pending.group)),
  }
}

function statusOf(index: number, store: KeyStore, guard: Guard | undefined): Status {
  const { active, pending, signed } = store
  const held = guard?.held
  return {
    index,
    active: active?.group ?? null,
    pending: pending?.group ?? null,
    handover: active?.handover ?? null,
    signed: signed
      ? {
          shard: signed.shard,
          size: signed.frontier.size,
          root: frontierRoot(signed.frontier).toString('base64'),
          shards: store.shards,
          note: store.note ?? null,
        }
      : null,
    held:
      held && active
        ? { origin: originOf(publicKeyOf(active.group), held.shard), size: held.frontier.size }
        : null,
  }
}

/** `refusals` is the last code that each call was refused with: of a row of them, one is logged. */
type ToldRefusals = { readonly log: Logger; readonly refusals: Map<string, string> }
type SignerExchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

async function answer(
  service: Service,
  { request, response }: SignerExchange,
  { log, refusals }: ToldRefusals,
): Promise<void> {
  const call = request.url?.split('?', 1)[0] ?? ''
  try {
    const body = await readWhole(request, BODY_BYTES_MAX, () =>
      refusal('malformed', `More than ${BODY_BYTES_MAX} bytes`),
    )
    sendJson(response, 200, dispatch(service, `${request.method} ${request.url}`, body))
    refusals.delete(call)
  } catch (error) {
    if (error instanceof ErgonError) {
      const { code, message, details } = error
      if (refusals.get(call) !== code)
        log.warn('Refused', { url: request.url, code, reason: message })
      // Calls that there are not may have any name.
      if (refusals.size < CALLS_MAX) refusals.set(call, code)
      return sendJson(response, 409, { code, message, details } satisfies RefusalReply)
    }
    log.error('Could not answer', { url: request.url, error })
    sendJson(response, 500, {
      code: 'internal',
      message: messageOf(error),
      details: {},
    } satisfies RefusalReply)
  }
}

function dispatch(service: Service, target: string, body: Buffer): unknown {
  const [call, query] = target.split('?', 2)
  switch (call) {
    case 'GET /readyz':
      return { ready: true }
    case 'GET /status':
      return service.status()
    case 'POST /dkg/round1':
      return service.dkg.round1(json(body) as Round1Request)
    case 'POST /dkg/round2':
      return service.dkg.round2(json(body) as Round2Request)
    case 'POST /dkg/round3':
      return service.dkg.round3(json(body) as Round3Request)
    case 'POST /dkg/finish':
      return service.dkg.finish(json(body) as FinishRequest)
    case 'POST /commit':
      return { nonces: service.ready().nonces.make((json(body) as CommitRequest).count) }
    case 'POST /leaves':
      return takeLeaves(service.ready().guard, new URLSearchParams(query), body)
    case 'POST /note':
      service.ready().guard.keep((json(body) as NoteRequest).note)
      return {}
    case 'POST /sign':
      return { share: sign(service.ready(), json(body) as SignRequest) }
    default:
      throw refusal('malformed', `No such call: ${target}`)
  }
}

function takeLeaves(guard: Guard, query: URLSearchParams, body: Buffer): { size: number } {
  const from = Number(query.get('from'))
  const voucher = query.get('voucher') ?? undefined
  return { size: guard.offer(query.get('origin') ?? '', from, decodeLeaves(body), voucher) }
}

/**
 * The order is the safety: the guard has the head on disk before it returns, the nonce is gone from
 * memory before it is used, and only then is there a share that could leave.
 */
function sign({ guard, nonces, share, handover }: ReadySigner, request: SignRequest): string {
  if (request.message !== handover()) guard.approve(request.message)
  const pair = nonces.take(request.nonce)
  try {
    return share.sign(Buffer.from(request.message), pair, request.commitments)
  } catch (cause) {
    throw refusal('malformed', `Could not sign: ${messageOf(cause)}`, { cause })
  }
}

function json(body: Buffer): object {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw refusal('malformed', 'Could not read the request: not JSON', { cause })
  }
  if (typeof value !== 'object' || value === null)
    throw refusal('malformed', 'Could not read the request: not an object')
  return value
}
