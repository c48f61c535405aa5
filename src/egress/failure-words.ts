// Why a connection to an address that a tenant named failed, in words that the tenant reads.
import { messageOf } from '#base/errors.ts'
import { NotPermitted } from './checked-socket.ts'

const WORDS_MAX = 200

const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at the address',
  ECONNRESET: 'it ended the connection before it answered',
  EHOSTUNREACH: 'no way leads to the address',
  ENETUNREACH: 'no way leads to the address',
  ENOTFOUND: 'the name is not in the DNS',
  ENODATA: 'the name has no address in the DNS',
  ETIMEOUT: 'the DNS did not answer',
  ESERVFAIL: 'the DNS did not answer',
}

export function failureWords(error: unknown): string {
  if (error instanceof NotPermitted) return error.message
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  const words =
    code === undefined ? messageOf(error) : (CODES[code] ?? `${messageOf(error)} (${code})`)
  return words.replaceAll('\0', '\uFFFD').slice(0, WORDS_MAX)
}
