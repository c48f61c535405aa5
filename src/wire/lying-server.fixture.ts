// A server on a socket that answers by a script: in order, or with lies.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { int32, message, READY, TYPE } from './messages.ts'

const int16 = (value: number): Buffer => int32(value).subarray(2)
const cstringOf = (text: string): Buffer => Buffer.from(`${text}\0`)

const TEXT_OID = 25
const PARSED = message(TYPE.parseComplete)
const PARAMETERS = message(TYPE.parameterDescription, int16(1), int32(TEXT_OID))
const COLUMNS = message(
  TYPE.rowDescription,
  int16(1),
  Buffer.concat([cstringOf('answer'), int32(0), int16(0), int32(TEXT_OID), int16(-1), int32(-1)]),
  int16(1),
)
const BOUND = message(TYPE.bindComplete)
const row = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return message(TYPE.dataRow, int16(1), int32(bytes.length), bytes)
}
const done = (rows: number): Buffer => message(TYPE.commandComplete, `SELECT ${rows}`)

/** The messages of an honest server to a statement's description, and to a query with these rows. */
export const described = (): Buffer[] => [PARSED, PARAMETERS, COLUMNS, READY]
export const answeredWith = (rows: readonly string[]): Buffer[] => [
  BOUND,
  ...rows.map(row),
  done(rows.length),
  READY,
]
export const errorMessage = (severity: string, code: string): Buffer =>
  message(TYPE.error, `V${severity}`, `C${code}`, 'Mplanted', Buffer.from([0]))

/** The parameter of a Bind message that has one. */
function parameterOf(body: Buffer): string {
  const portal = body.indexOf(0)
  const statement = body.indexOf(0, portal + 1)
  // Forms (2 + 2), number of parameters (2), length (4).
  const at = statement + 1 + 6
  return body.toString('utf8', at + 4, at + 4 + body.readInt32BE(at))
}

/** Asked by the client: a description, or a query with its parameter. */
export type ToLiar =
  | { readonly kind: 'describe' }
  | { readonly kind: 'query'; readonly text: string }

/** Listens on loopback. `answer` gets each request of a client, and the socket to write to. */
export async function lyingServer(
  t: TestContext,
  answer: (asked: ToLiar, socket: Socket) => void,
): Promise<{
  readonly login: () => Promise<Socket>
  readonly server: Server
}> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let held = Buffer.alloc(0)
    let asked: ToLiar = { kind: 'describe' }
    socket.on('data', (bytes) => {
      held = Buffer.concat([held, bytes])
      while (held.length >= 5 && held.length > held.readInt32BE(1)) {
        const end = held.readInt32BE(1) + 1
        const [type, body] = [held[0], held.subarray(5, end)]
        held = held.subarray(end)
        if (type === TYPE.parse) asked = { kind: 'describe' }
        if (type === TYPE.bind) asked = { kind: 'query', text: parameterOf(body) }
        if (type === TYPE.sync) answer(asked, socket)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    server,
    login: async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
  }
}
