// The address of the service, and the caller's token. A flag wins over the environment, that over the data folder of
// the current directory, that over what `ergon login` stored, that over the data folder of the clone.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { hostOfUrl, isThisMachine } from '#base/hosts.ts'
import { CLONE } from './clone.ts'
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

/** Forgets the token that `ergon login` stored; returns the file. */
export function dropCredentials(): string {
  rmSync(credentialsFile(), { force: true })
  return credentialsFile()
}

function storedCredentials(): Credentials | undefined {
  if (!existsSync(credentialsFile())) return undefined
  return JSON.parse(readFileSync(credentialsFile(), 'utf8')) as Credentials
}

/**
 * Replaces the token that `ergon login` stored, where calls to this service use it. Returns the file, or undefined
 * where another token is used.
 */
export function replaceStoredToken(options: GlobalOptions, token: string): string | undefined {
  const baseUrl = baseUrlOf(options)
  const isUsed = environment().token === undefined && storedCredentials()?.baseUrl === baseUrl
  return isUsed ? storeCredentials({ baseUrl, token }) : undefined
}

type ProfileFolder = { readonly folder: string; readonly port: number; readonly runFolder: string }

/** The one that was named, else that of the current directory. */
const dataFolder = (options: GlobalOptions): ProfileFolder | undefined =>
  readDataFolder(resolve(options.data ?? environment().data ?? DATA))

/** The one of the clone that this command line is part of, where none was named. */
const dataFolderOfClone = (options: GlobalOptions): ProfileFolder | undefined =>
  (options.data ?? environment().data) === undefined ? readDataFolder(join(CLONE, DATA)) : undefined

const DATA = '.ergon'

function readDataFolder(folder: string): ProfileFolder | undefined {
  const file = join(folder, 'ergon.json')
  if (!existsSync(file)) return undefined
  return { ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<ProfileFolder, 'folder'>), folder }
}

/** The data folder of a service on this machine, if there is one. */
export const localDataFolder = (options: GlobalOptions): ProfileFolder | undefined =>
  dataFolder(options) ?? dataFolderOfClone(options)

/**
 * Throws a CommandError where a data folder is named and is none: another service would answer in the place
 * of the named one, or be changed.
 */
export function demandDataFolder(options: GlobalOptions): void {
  const named = options.data ?? environment().data
  if (named === undefined || existsSync(join(resolve(named), 'ergon.json'))) return
  throw new CommandError(
    `No data folder of a service: ${resolve(named)}`,
    EXIT.failed,
    options.data === undefined
      ? 'correct ERGON_DATA or unset it, or start Ergon there: npm start'
      : 'correct --data, or start Ergon there: npm start -- --data <folder>',
  )
}

/** The API's address, without `/v1` or a slash at its end, if one is known. */
export function knownBaseUrl(options: GlobalOptions): string | undefined {
  const given = options.baseUrl ?? environment().baseUrl
  if (given !== undefined) return serviceAddress(given)
  const local = dataFolder(options)
  const stored = local === undefined ? storedCredentials()?.baseUrl : undefined
  const { port } = local ?? dataFolderOfClone(options) ?? {}
  return stored ?? (port === undefined ? undefined : `http://localhost:${port}`)
}

/**
 * An address as people write one: SDKs want `/v1` at its end, and a scheme is left out. Without a scheme `localhost`
 * and IP addresses are asked over http, other names over https, as the token goes with it. Throws a CommandError for a
 * text that is no address.
 */
export function serviceAddress(text: string): string {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? URL.parse(text) : URL.parse(`http://${text}`)
  const isHttp = !text.startsWith('/') && (url?.protocol === 'http:' || url?.protocol === 'https:')
  if (url === null || !isHttp || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new CommandError(`Not an address of a service: ${text}`, EXIT.usage, ADDRESS)
  if (!text.includes('://') && !isNear(url.hostname)) url.protocol = 'https:'
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
}
const ADDRESS = '--base-url http://localhost:8080'

/** A name of this machine, or an IP address. */
const isNear = (host: string): boolean =>
  /^(.+\.)?localhost$/.test(host) || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0

const SERVICE =
  '--base-url http://localhost:8080 or ERGON_BASE_URL, --data <folder> of a service on this machine, ergon login, or the folder where .ergon is'

/** The API's address, or a CommandError that says how to give one. */
export function baseUrlOf(options: GlobalOptions): string {
  const found = knownBaseUrl(options)
  if (found === undefined) throw new CommandError('No service is known', EXIT.login, SERVICE)
  return found
}

/**
 * The token, where there is one. Never taken from a flag, which other users of the machine could read. A token that
 * `ergon login` stored is sent to the service that it was stored for, and to no other address.
 */
export function knownToken(options: GlobalOptions): string | undefined {
  return environment().token ?? storedToken(baseUrlOf(options))
}

/** The token that `ergon login` stored for a service. */
export function storedToken(baseUrl: string): string | undefined {
  const stored = storedCredentials()
  return stored?.baseUrl === baseUrl ? stored.token : undefined
}

/** The token, or a CommandError that says how to give one. */
export function tokenOf(options: GlobalOptions): string {
  const found = knownToken(options)
  if (found === undefined)
    throw new CommandError('No token is known', EXIT.login, loginStep(options))
  return found
}

/** The login at the service that was asked, with the scope that the page of the approval names. */
export const loginCommand = ({ baseUrl }: GlobalOptions, scope?: string): string =>
  `ergon login${baseUrl === undefined ? '' : ` --base-url ${baseUrl}`}${scope === undefined ? '' : ` --scope ${scope}`}`

/** The next step for a user without a token, or whose token is refused. */
export const loginStep = (options: GlobalOptions): string =>
  `${loginCommand(options)}, or set ERGON_TOKEN`

/**
 * The folder of sockets of the service that is asked, where its data folder is on this machine. An address that a flag
 * or the environment has must be that of this machine and of the service's port.
 */
export function localRunFolder(options: GlobalOptions): string | undefined {
  const local = dataFolder(options)
  const asked = options.baseUrl ?? environment().baseUrl
  return asked === undefined || isAddressOf(local, asked) ? local?.runFolder : undefined
}

const isAddressOf = (local: ProfileFolder | undefined, address: string): boolean => {
  const url = new URL(serviceAddress(address))
  return isThisMachine(hostOfUrl(url)) && portOf(url) === local?.port
}

/**
 * True where `ergon status` asks the node of a data folder on this machine, and not the service elsewhere that a flag names.
 * An address in the environment is the public name of that node as well, so the data folder wins.
 */
export function isOwnNode(options: GlobalOptions): boolean {
  const local = localDataFolder(options)
  if (local === undefined) return false
  return options.baseUrl === undefined || isAddressOf(local, options.baseUrl)
}

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)

/** The operator's socket in a data folder. */
export function controlSocketOf(options: GlobalOptions): string {
  const local = localDataFolder(options)
  if (local !== undefined) return join(local.runFolder, 'control.sock')
  const baseUrl = knownBaseUrl(options)
  const isElsewhere = baseUrl !== undefined && !isThisMachine(hostOfUrl(new URL(baseUrl)))
  throw new CommandError(
    isElsewhere
      ? `No data folder here: commands of the operator run on the machine of the service, not through ${baseUrl}`
      : 'No data folder here',
    EXIT.failed,
    isElsewhere
      ? `log in on ${new URL(baseUrl).hostname}, and run it where .ergon is`
      : 'run it where .ergon is, or give --data <folder>',
  )
}
