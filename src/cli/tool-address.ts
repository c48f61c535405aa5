// Addresses of databases for PostgreSQL's client programs. libpq reads all but the password, which is no argument.
import { CommandError, EXIT } from './output.ts'

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
const TLS_PARAMETER = /^(sslmode=verify-|channel_binding=require)/

export type ToolAddress = {
  /** The connection string without its password. */
  readonly uri: string
  readonly password: string
  /** False for a server of this machine that may be asked without TLS. */
  readonly needsTls: boolean
}

/** Throws a CommandError for a text that is no address of a PostgreSQL database. */
export function toolAddress(address: string): ToolAddress {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol))
    throw new CommandError('This is no address of a PostgreSQL database', EXIT.usage)
  // Not by searchParams: libpq reads a plus as a plus.
  const given = url.search.slice(1).split('&')
  if (given.some((one) => one.startsWith('sslpassword=')))
    throw new CommandError(
      'An address with sslpassword is not taken: other users could read it',
      EXIT.usage,
      'a key without a passphrase, that only you can read',
    )
  const isNear = LOOPBACK.test(url.hostname)
  const password = given.find((one) => one.startsWith(PASSWORD))?.slice(PASSWORD.length)
  url.search = given
    .filter((one) => one !== '' && !one.startsWith(PASSWORD))
    // Programs without TLS do on the same machine.
    .map((one) => (isNear && one === 'sslmode=require' ? 'sslmode=prefer' : one))
    .join('&')
  const found = decodeURIComponent(password ?? url.password)
  url.password = ''
  const needsTls = !isNear || given.some((one) => TLS_PARAMETER.test(one))
  return { uri: url.href, password: found, needsTls }
}

const PASSWORD = 'password='
