// Interim answers (1xx) to a request. Node reads any number of them, so a server of strangers or of an account's code could
// keep its caller busy for as long as the caller waits.
import type { ClientRequest } from 'node:http'
import { Failure } from './errors.ts'

/** Interim answers to one request. Each costs CPU that no account pays for. */
export const INTERIM_MAX = 16

/** Ends a request whose server sends more of them. */
export function limitInterim(sent: ClientRequest): void {
  let count = 0
  sent.on('information', () => {
    if (++count > INTERIM_MAX)
      sent.destroy(new Failure(`it sent more than ${INTERIM_MAX} interim answers (1xx)`))
  })
}
