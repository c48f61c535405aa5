// Asks a server whether it accepts sessions, with the least of its protocol: a startup message, and the
// first byte of the answer (PostgreSQL 16, 55.2.1 and 55.7).
import { connect } from 'node:net'

import { postgresFault } from './faults.ts'

const PROTOCOL_3 = 196_608
// An error before authentication is short; more is not PostgreSQL.
const ANSWER_BYTES_MAX = 16 * 1024
const ERROR = 0x45
const AUTHENTICATION = 0x52

/**
 * Resolves when the server asks for authentication; rejects with postgres_not_ready when it cannot be
 * reached or answers with an error ("the database system is starting up"), or with the signal's reason.
 */
export function probeServer(socketPath: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const socket = connect(socketPath)
    let answer = Buffer.alloc(0)
    const stop = () => end(() => reject(signal.reason))
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      settle()
    }
    const fail = (why: string) =>
      end(() => reject(postgresFault('postgres_not_ready', `PostgreSQL does not answer: ${why}`)))
    signal.addEventListener('abort', stop, { once: true })
    socket.on('connect', () => socket.write(startupMessage('postgres')))
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => fail('the connection was closed'))
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      if (answer[0] === AUTHENTICATION) return end(resolve)
      if (answer[0] !== ERROR || answer.length > ANSWER_BYTES_MAX) return fail('not PostgreSQL')
      if (answer.length > 5 && answer.length > answer.readInt32BE(1)) fail(messageOfError(answer))
    })
  })
}

function startupMessage(user: string): Buffer {
  const parameters = Buffer.from(`user\0${user}\0database\0postgres\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + parameters.length, 0)
  head.writeInt32BE(PROTOCOL_3, 4)
  return Buffer.concat([head, parameters])
}

/** The field M of an ErrorResponse (55.8). */
function messageOfError(answer: Buffer): string {
  const fields = answer.toString('utf8', 5).split('\0')
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'an error without a message'
}
