// Messages of the frontend/backend protocol 3.0 (PostgreSQL 16, chapters 55.7 and 55.8): those before and around a
// session, which the proxy of databases writes and reads, and the types of all that a client meets.

export const PROTOCOL_3 = 196_608
export const CANCEL_REQUEST = 80_877_102
export const SSL_REQUEST = 80_877_103
export const GSS_REQUEST = 80_877_104

/** First bytes of messages. */
export const TYPE = {
  authentication: 0x52,
  backendKey: 0x4b,
  bind: 0x42,
  bindComplete: 0x32,
  commandComplete: 0x43,
  dataRow: 0x44,
  describe: 0x44,
  error: 0x45,
  execute: 0x45,
  functionCall: 0x46,
  negotiate: 0x76,
  noData: 0x6e,
  notice: 0x4e,
  notification: 0x41,
  parameterDescription: 0x74,
  parameterStatus: 0x53,
  parse: 0x50,
  parseComplete: 0x31,
  password: 0x70,
  query: 0x51,
  ready: 0x5a,
  rowDescription: 0x54,
  sync: 0x53,
  terminate: 0x58,
} as const

/** A message with its type and length. */
export function message(type: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? cstring(part) : part)))
  const head = Buffer.allocUnsafe(5)
  head[0] = type
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

export const cstring = (text: string): Buffer => Buffer.from(`${text}\0`)

export function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** The last message of a connection. `code` is an SQLSTATE; `hint` says what its reader can do. */
export type FatalError = { readonly code: string; readonly message: string; readonly hint: string }

/** Every session at a stop of the service. */
export const STOPPED: FatalError = {
  code: '57P01',
  message: 'terminating connection due to administrator command',
  hint: 'The service stops. Try again once it runs.',
}

/** Bytes that are no PostgreSQL protocol. */
export const violation = (text: string): FatalError => ({
  code: '08P01',
  message: text,
  hint: 'The client does not speak the protocol of PostgreSQL here: use psql or a driver.',
})

const fieldsOf = (severity: string, { code, message: text, hint }: FatalError) => [
  `S${severity}`,
  `V${severity}`,
  `C${code}`,
  `M${text}`,
  `H${hint}`,
  Buffer.from([0]),
]

export const fatalMessage = (fatal: FatalError): Buffer =>
  message(TYPE.error, ...fieldsOf('FATAL', fatal))

/** A NoticeResponse, which psql prints and drivers report. */
export const warningMessage = (warning: FatalError): Buffer =>
  message(TYPE.notice, ...fieldsOf('WARNING', warning))

export const authentication = (kind: number, ...parts: readonly (Buffer | string)[]): Buffer =>
  message(TYPE.authentication, int32(kind), ...parts)

/** AuthenticationOk. */
export const AUTHENTICATED = authentication(0)
/** ReadyForQuery outside of a transaction. */
export const READY = message(TYPE.ready, Buffer.from('I'))
export const TERMINATE = message(TYPE.terminate)

export const queryMessage = (sql: string): Buffer => message(TYPE.query, sql)

/** The startup message of a session. */
export function startupMessage(parameters: ReadonlyMap<string, string>): Buffer {
  const pairs = [...parameters].flatMap(([name, value]) => [cstring(name), cstring(value)])
  const body = Buffer.concat([int32(PROTOCOL_3), ...pairs, Buffer.from([0])])
  return Buffer.concat([int32(body.length + 4), body])
}

export const cancelMessage = (key: Buffer): Buffer =>
  Buffer.concat([int32(16), int32(CANCEL_REQUEST), key])

/** The parameters of a startup message's body after the protocol's number; undefined where it is malformed. */
export function parseParameters(bytes: Buffer): Map<string, string> | undefined {
  const texts = bytes.toString('utf8').split('\0')
  // Pairs, then an empty name, then what follows the last NUL: nothing.
  if (texts.pop() !== '' || texts.pop() !== '' || texts.length % 2 !== 0) return undefined
  const parameters = new Map<string, string>()
  for (let place = 0; place < texts.length; place += 2) {
    const name = texts[place] ?? ''
    if (name === '') return undefined
    parameters.set(name, texts[place + 1] ?? '')
  }
  return parameters
}
