// The way of PostgreSQL's client programs to a database: by the unix socket of the proxy where the service is on this
// machine, so that they need no TLS and may be the service's own.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FIRST_PROXY_FOLDER, LOCAL_SOCKET } from '#contract/databases/database-socket.ts'
import { localRunFolder, type GlobalOptions } from './profile.ts'

/** A part of the socket's name. */
const SOCKET_PORT = '5432'

/**
 * A connection string of the service by the endpoint's unix socket, or the string itself where this user cannot reach
 * the socket. `PGSSLMODE` and its like of the user's environment do not count at the socket.
 */
export function nearestAddress(options: GlobalOptions, url: string): string {
  const runFolder = localRunFolder(options)
  if (runFolder === undefined) return url
  const folder = join(runFolder, FIRST_PROXY_FOLDER)
  if (!existsSync(join(folder, LOCAL_SOCKET))) return url
  const address = new URL(url)
  address.hostname = 'localhost'
  // To libpq these are the host and the port.
  address.search = [
    `host=${encodeURIComponent(folder)}`,
    `port=${SOCKET_PORT}`,
    'sslmode=disable',
    'sslrootcert=',
    'channel_binding=prefer',
  ].join('&')
  return address.href
}
