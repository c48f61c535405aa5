// Reports to the user who starts Ergon: steps, progress and the stop on stderr, and the ready lines (or with --json
// the one ready object) on stdout. Where stderr is not a terminal, each step is a line of the log, and everything is
// JSON.
import { delimiter } from 'node:path'
import { commandOf, isLaunched, launcherFolder } from '#base/launcher.ts'
import { createLogger } from '#base/log.ts'
import { tailing, type LogTail } from '#base/log-tail.ts'
import { createProgressBar } from '#base/progress-bar.ts'
import type { Isolation } from '#cells/cell.ts'
import { isLoopback } from '#base/hosts.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import { APP_FOLDER } from './cell-specs.ts'
import type { DataFolder } from './data-folder.ts'
import type { FirstAccount } from './first-start.ts'
import { functionsUrl } from './functions-address.ts'
import { PORTAL_PORT_OFFSET, STATUS_PORT_OFFSET } from './ports.ts'

/** The progress of a download or an assembly. */
export type Progress = {
  readonly phase?: 'download' | 'unpack'
  readonly doneBytes: number
  readonly totalBytes: number
}
export type Ready = {
  config: Config
  data: DataFolder
  account: FirstAccount
  /** The link by which the owner of the first account makes a passkey, until there is one. */
  ownerLink: string | undefined
}

export interface Reporter {
  step(text: string): void
  isolation(isolation: Isolation): void
  /** Progress of a download or an assembly; a bar, on a terminal only. */
  progress(what: string, progress: Progress): void
  newPrice(config: Config): void
  ready(ready: Ready): void
  /** Everything that was on its way has arrived or failed. */
  complete(failures: readonly string[]): void
  /** The start has failed, or the running product has. */
  failed(message: string): void
  stopping(reason: string): void
  stopped(): void
}

/** `logTail` keeps the lines of the log. */
export function createReporter(logTail: LogTail): Reporter {
  const { stderr } = process
  const log = createLogger('agent', { write: tailing(logTail) })
  const bar = createProgressBar(stderr)
  const sinceStart = stopwatch()
  let sinceStop = sinceStart

  function tell(text: string, level: 'info' | 'error' = 'info'): void {
    if (!stderr.isTTY) return log[level](text)
    bar.erase()
    stderr.write(`ergon: ${text}\n`)
  }
  const step = (text: string) => tell(`${text} (${sinceStart()} s)`)
  return {
    step,
    newPrice: ({ pricePusdPerJ, freeTierJ }) =>
      tell(`price set: ${pricePusdPerJ} pUSD per J, ${freeTierJ} J a day free`),
    isolation({ level, meter, memoryLimit, reasons }) {
      tell(`isolation ${level}, meter ${meter}, memory limit ${memoryLimit}`)
      for (const reason of reasons) tell(`  ${reason}`)
    },
    progress: (what, { phase, doneBytes, totalBytes }) =>
      bar.show(workName(what, phase), doneBytes, totalBytes),
    ready(ready) {
      bar.erase()
      process.stdout.write(
        ready.config.json
          ? `${JSON.stringify(readyObject(ready))}\n`
          : readyText(ready, { seconds: sinceStart(), ...commandHere() }),
      )
    },
    complete(failures) {
      for (const failure of failures) tell(failure, 'error')
      step(
        failures.length === 0 ? 'everything is up' : `up with ${failures.length} thing(s) missing`,
      )
    },
    failed: (message) => tell(message, 'error'),
    stopping(reason) {
      sinceStop = stopwatch()
      tell(`stopping (${reason}): requests that run are finished or cut, then everything is saved`)
    },
    stopped: () => tell(`stopped (${sinceStop()} s)`),
  }
}

/** The name of a progress bar: a file is fetched, then unpacked, each with a bar of its own. */
export function workName(what: string, phase: Progress['phase']): string {
  if (phase === undefined) return what
  return `${phase === 'download' ? 'fetch' : 'unpack'} ${what}`
}

/** Seconds since this call, as text. */
function stopwatch(): () => string {
  const begunMs = performance.now()
  return () => ((performance.now() - begunMs) / 1000).toFixed(1)
}

type NodeAddress = Pick<Ready, 'config'> & { readonly data: Pick<DataFolder, 'port'> }

/** The address of the API, without a slash at its end: paths are written after it. */
export const baseUrl = ({ config, data }: NodeAddress): string =>
  config.baseUrl?.replace(/\/+$/, '') ?? `http://localhost:${data.port}`

/** The address of the status page. */
export const statusUrl = ({ config, data }: Pick<Ready, 'config' | 'data'>): string =>
  config.statusUrl ?? `http://status.localhost:${data.port + STATUS_PORT_OFFSET}`

/** Null: the service has no portal. */
export function portalUrl({ config, data }: Pick<Ready, 'config' | 'data'>): string | null {
  if (config.portalUrl !== undefined) return new URL(config.portalUrl).origin
  return isLoopback(config.host)
    ? `http://portal.localhost:${data.port + PORTAL_PORT_OFFSET}`
    : null
}

/** The host of the database endpoint; null where the node runs no databases. */
export function databaseHost(config: Ready['config']): string | null {
  if (!config.databases) return null
  return (
    config.dbHost ?? (config.baseUrl === undefined ? 'localhost' : new URL(config.baseUrl).hostname)
  )
}

/** Addresses that nothing answers at yet are null: they are promised by the interface, not by us. */
function readyObject(ready: Ready): object {
  const { account } = ready
  return {
    ready: true,
    base_url: baseUrl(ready),
    portal_url: portalUrl(ready),
    status_url: statusUrl(ready),
    functions_url: functionsUrl(ready, account.account),
    db_host: databaseHost(ready.config),
    db_port: ready.config.databases ? ready.data.pgPort : null,
    account_id: account.account,
    ...(account.token === undefined ? {} : { token: account.token }),
    ...(ready.ownerLink === undefined ? {} : { owner_url: ready.ownerLink }),
  }
}

type Here = {
  /** The command line's command on this machine. */
  readonly command: string
  readonly isInstalled: boolean
}

/** `ergon` where `ergon self install` has put it for this user, else the path of its program. */
function commandHere(): Here {
  const { HOME = '', PATH = '' } = toolEnvironment()
  const isInstalled = isLaunched(APP_FOLDER, [launcherFolder(HOME), ...PATH.split(delimiter)])
  return { command: isInstalled ? 'ergon' : commandOf(APP_FOLDER), isInstalled }
}

function portalText(ready: Ready): string {
  const url = portalUrl(ready)
  if (url === null) return ''
  if (ready.ownerLink === undefined) return `\nOpen the portal: ${url}\n`
  return `\nOpen the portal and make your passkey: ${ready.ownerLink}\n(valid once, for a day)\n`
}

const processorText = ({ config: { testProcessorPort: port } }: Ready): string =>
  port === undefined ? '' : `Test processor: http://127.0.0.1:${port} (test money: no funds move)\n`

/** The ready lines for a person. */
export function readyText(
  ready: Ready,
  { seconds, command, isInstalled }: Here & { readonly seconds: string },
): string {
  const url = baseUrl(ready)
  const token = ready.account.token ?? '$ERGON_TOKEN'
  const key = ready.account.token ?? '<token>'
  const first =
    ready.account.token === undefined
      ? ''
      : `
  account  ${ready.account.account}, with 5 tUSD of test money: no funds move
  token    ${ready.account.token}
           (scope deploy; shown this once)
`
  const head = `${portalText(ready)}
Ergon answers at ${url} (${seconds} s)
Object storage (S3) at the same address; access key and secret are a token, the region is ${ready.config.region}
Status page: ${statusUrl(ready)}
${processorText(ready)}${first}`
  const install = isInstalled
    ? ''
    : `To call it as ergon in every folder, once: ${command} self install\n`
  // Nothing was asked to load that could answer a chat.
  if (ready.config.models === 'none')
    return `${head}
  curl ${url}/v1/models -H "Authorization: Bearer ${token}"

No default model is loaded (--models none). Add one: ${command} models add --help
${install}`
  return `${head}
  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${token}" \\
    -H "Content-Type: application/json" -D - \\
    -d '{"model":"auto","messages":[{"role":"user","content":"What is the capital of France?"}]}'

  import OpenAI from 'openai'
  const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' })
  const answer = await client.chat.completions.create({ model: 'auto', messages: [{ role: 'user', content: 'Hello' }] })

The default models are small and real (class: demo). A better one: ${command} models add --help
${install}`
}
