// Where the service is and who calls it. A flag wins over the environment, that over the data folder
// of the current directory, that over what `ergon login` stored.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { environment } from './environment.ts'
import { CommandError, EXIT } from './output.ts'

export type GlobalOptions = {
  readonly baseUrl?: string
  readonly data?: string
  readonly json?: boolean
}
type Credentials = { readonly baseUrl: string; readonly token: string }

const credentialsFile = () => join(environment().configFolder, 'credentials.json')

export function storeCredentials(credentials: Credentials): string {
  mkdirSync(environment().configFolder, { recursive: true, mode: 0o700 })
  writeFileSync(credentialsFile(), `${JSON.stringify(credentials)}\n`, { mode: 0o600 })
  return credentialsFile()
}

function storedCredentials(): Credentials | undefined {
  if (!existsSync(credentialsFile())) return undefined
  return JSON.parse(readFileSync(credentialsFile(), 'utf8')) as Credentials
}

type DataFolder = { readonly port: number; readonly runFolder: string }

function dataFolder(options: GlobalOptions): DataFolder | undefined {
  const folder = resolve(options.data ?? environment().data ?? '.ergon')
  const file = join(folder, 'ergon.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DataFolder) : undefined
}

/** The API's address, without a slash at its end, if one is known. */
export function knownBaseUrl(options: GlobalOptions): string | undefined {
  const local = dataFolder(options)
  const found =
    options.baseUrl ??
    environment().baseUrl ??
    (local === undefined ? storedCredentials()?.baseUrl : `http://localhost:${local.port}`)
  return found?.replace(/\/+$/, '')
}

const SERVICE =
  'run it where .ergon is, give --data <folder> of a service on this machine, or ergon login --base-url <address>'

/** The API's address, or a CommandError that says how to give one. */
export function baseUrlOf(options: GlobalOptions): string {
  const found = knownBaseUrl(options)
  if (found === undefined) throw new CommandError('No service is known', EXIT.login, SERVICE)
  return found
}

/**
 * The token, if there is one; never taken from a flag, which others on the machine could read. What
 * `ergon login` stored goes to the service that it was stored for, and to no other address.
 */
export function knownToken(options: GlobalOptions): string | undefined {
  const stored = storedCredentials()
  return environment().token ?? (stored?.baseUrl === baseUrlOf(options) ? stored.token : undefined)
}

/** The token, or a CommandError that says how to give one. */
export function tokenOf(options: GlobalOptions): string {
  const found = knownToken(options)
  if (found === undefined) throw new CommandError('No token is known', EXIT.login, LOGIN)
  return found
}

/** What to do where a token is missing. */
export const LOGIN = 'set ERGON_TOKEN, or ergon login < token-file'

/** The socket of the operator's door of a data folder. */
export function controlSocketOf(options: GlobalOptions): string {
  const local = dataFolder(options)
  if (local === undefined)
    throw new CommandError(
      'No data folder here',
      EXIT.failed,
      'run it where .ergon is, or give --data <folder>',
    )
  return join(local.runFolder, 'control.sock')
}
