// Errors of a connection: errors that the server reports, and messages that a server may not send.

/** The peer does not keep to the protocol: the connection has ended. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** An ErrorResponse. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** The SQLSTATE. */
  readonly code: string
  /** The server ends the connection. */
  readonly isFatal: boolean

  constructor(message: string, code: string, isFatal: boolean) {
    super(message)
    this.code = code
    this.isFatal = isFatal
  }
}

/** Reads the fields of an ErrorResponse. Throws a ProtocolError for a body that is cut. */
export function readServerError(bytes: Buffer, start: number, end: number): ServerError {
  const fields = new Map<string, string>()
  for (let at = start; at < end && bytes[at] !== 0;) {
    const close = bytes.indexOf(0, at + 1)
    if (close < 0 || close >= end) throw new ProtocolError('The server sent an error that is cut')
    fields.set(String.fromCharCode(bytes[at] ?? 0), bytes.toString('utf8', at + 1, close))
    at = close + 1
  }
  // S is in the language of the server, V is not.
  const severity = fields.get('V') ?? ''
  return new ServerError(
    fields.get('M') ?? 'The server reports an error without a message',
    fields.get('C') ?? '',
    severity === 'FATAL' || severity === 'PANIC',
  )
}
