// What the person at the terminal sees: steps and progress on stderr, and the ready lines (or with
// --json the one ready object) on stdout.
import type { Isolation } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import type { DataFolder } from './data-folder.ts'
import type { FirstAccount } from './first-start.ts'

export type Ready = { config: Config; data: DataFolder; account: FirstAccount }

export interface Reporter {
  step(text: string): void
  isolation(isolation: Isolation): void
  /** Progress of a download or an assembly; drawn on a terminal only. */
  progress(what: string, progress: { doneBytes: number; totalBytes: number }): void
  newPrice(config: Config): void
  ready(ready: Ready): void
  /** Everything that was on its way has arrived or failed. */
  complete(failures: readonly string[]): void
}

const BAR_CELLS = 24

export function createReporter(config: Config): Reporter {
  const started = performance.now()
  const tell = (text: string) => process.stderr.write(`${text}\n`)
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1)
  return {
    step: (text) => tell(`ergon: ${text} (${seconds()} s)`),
    newPrice: ({ pricePusdPerJ, freeTierJ }) =>
      tell(`ergon: price set: ${pricePusdPerJ} pUSD per J, ${freeTierJ} J a day free`),
    isolation(isolation) {
      tell(
        `ergon: isolation ${isolation.level}, meter ${isolation.meter}, memory limit ${isolation.memoryLimit}`,
      )
      for (const reason of isolation.reasons) tell(`ergon:   ${reason}`)
    },
    progress(what, { doneBytes, totalBytes }) {
      if (process.stderr.isTTY)
        process.stderr.write(
          `\r${bar(what, doneBytes, totalBytes)}${doneBytes >= totalBytes ? '\n' : ''}`,
        )
    },
    ready(ready) {
      process.stdout.write(
        config.json ? `${JSON.stringify(readyObject(ready))}\n` : readyText(ready, seconds()),
      )
    },
    complete(failures) {
      for (const failure of failures) tell(`ergon: ${failure}`)
      tell(
        failures.length === 0
          ? `ergon: everything is up (${seconds()} s)`
          : `ergon: up with ${failures.length} thing(s) missing (${seconds()} s)`,
      )
    },
  }
}

function bar(what: string, done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(share * BAR_CELLS)
  const mib = (bytes: number) => (bytes / 1_048_576).toFixed(0)
  return `  ${what} [${'█'.repeat(full)}${' '.repeat(BAR_CELLS - full)}] ${mib(done)}/${mib(total)} MiB`
}

export const baseUrl = ({ config, data }: Pick<Ready, 'config' | 'data'>): string =>
  config.baseUrl ?? `http://localhost:${data.port}`

/** Addresses that nothing answers at yet are null: they are promised by the interface, not by us. */
function readyObject(ready: Ready): object {
  const { account } = ready
  return {
    ready: true,
    base_url: baseUrl(ready),
    portal_url: null,
    status_url: null,
    functions_url: null,
    db_host: null,
    db_port: null,
    account_id: account.account,
    ...(account.token === undefined ? {} : { token: account.token }),
  }
}

/** The ready lines for a person. */
export function readyText(ready: Ready, seconds: string): string {
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
  const head = `
Ergon answers at ${url} (${seconds} s)
${first}`
  // Nothing was asked to load that could answer a chat.
  if (ready.config.models === 'none')
    return `${head}
  curl ${url}/v1/models -H "Authorization: Bearer ${token}"

No default model is loaded (--models none). Add one: npx ergon models add --help
`
  return `${head}
  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${token}" \\
    -H "Content-Type: application/json" -D - \\
    -d '{"model":"auto","messages":[{"role":"user","content":"What is the capital of France?"}]}'

  import OpenAI from 'openai'
  const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' })
  const answer = await client.chat.completions.create({ model: 'auto', messages: [{ role: 'user', content: 'Hello' }] })

The default models are small and real (class: demo). A better one: npx ergon models add --help
`
}
