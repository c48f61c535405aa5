// Measures the parts, keeps their history, and writes the files of the page: at the start from the last known history,
// then once a period. It fails for nothing that it measures; a disk that cannot be written is logged, and the next
// period tries again.
import { join } from 'node:path'
import { sleep, type Clock } from '#base/clock.ts'
import { writeDurably } from '#base/durable-file.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { State } from '#state/connect.ts'
import type { CountsReader } from './counts.ts'
import { statusDocument, type KnownStatus } from './document.ts'
import { readFacts, type StateFacts } from './facts.ts'
import { feedOf } from './feed.ts'
import { PAGES, readStatusFile, replaceFile } from './files.ts'
import { addMeasures, NO_HISTORY } from './history.ts'
import { ofCounts, worst, type RequestFailures, type PartMeasure } from './measure.ts'
import { pageHtml } from './page-html.ts'
import { FUNCTIONS_PART, INFERENCE_PART, modelPart, PARTS } from './parts.ts'
import type { AddressProbe } from './probes.ts'

/** The file that outlives this process: not served. */
const KNOWN_FILE = 'known.json'
const KNOWN_VERSION = 1
const FILE_MODE = 0o640
/** A gateway that starts beside this process is not down yet. */
const START_MS_MAX = 60_000
const START_AGAIN_MS = 500

export type Probes = {
  readonly api: AddressProbe
  readonly storage: AddressProbe
  /** Undefined where the node serves none. */
  readonly databases: AddressProbe | undefined
  /** The ingress. */
  readonly functions: AddressProbe
  readonly webhooks: AddressProbe
  /** Undefined where the node has none. */
  readonly portal: AddressProbe | undefined
}
export type WriterDeps = {
  readonly folder: string
  readonly url: string
  readonly ownRegion: string
  readonly periodMs: number
  readonly state: State
  readonly probes: Probes
  readonly counts: CountsReader
  /** Parts that this node does not have. */
  readonly missing: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** Runs until the signal aborts. */
export async function keepWriting(deps: WriterDeps, signal: AbortSignal): Promise<void> {
  const { folder, periodMs, clock, log } = deps
  let known = readKnown(folder, log)
  // A page of an earlier life keeps its time until something is measured.
  writePages(known, deps)
  await untilAnswered(deps, signal)
  for (let isStart = true; !signal.aborted; isStart = false) {
    const begunMs = clock.monotonicMs()
    known = await measured(known, deps, { isStart, signal })
    if (signal.aborted) return
    writePages(known, deps)
    const restMs = Math.max(0, periodMs - (clock.monotonicMs() - begunMs))
    await sleep(restMs, signal).catch(() => undefined)
  }
}

/** Writes all files. A full disk is logged: the page then shows its older time. */
function writePages(known: KnownStatus, deps: WriterDeps): void {
  const { folder, url, ownRegion, periodMs, clock, log } = deps
  const nowMs = known.history.atMs === 0 ? clock.wallMs() : known.history.atMs
  const document = statusDocument(known, { nowMs, periodMs, ownRegion })
  try {
    // A power cut leaves the old file or the new one: 90 days cannot be measured again.
    const text = JSON.stringify({ version: KNOWN_VERSION, ...known })
    writeDurably(join(folder, KNOWN_FILE), text, FILE_MODE)
    replaceFile(folder, PAGES['/status.json'].file, `${JSON.stringify(document)}\n`)
    replaceFile(folder, PAGES['/feed.rss'].file, feedOf(document, url))
    replaceFile(folder, PAGES['/'].file, pageHtml(document))
  } catch (error) {
    log.error('Could not write the status page', { error: messageOf(error) })
  }
}

async function untilAnswered({ probes, clock }: WriterDeps, signal: AbortSignal): Promise<void> {
  const endMs = clock.monotonicMs() + START_MS_MAX
  while (!signal.aborted && clock.monotonicMs() < endMs) {
    if (await probes.api(signal)) return
    await sleep(START_AGAIN_MS, signal).catch(() => undefined)
  }
}

/** The knowledge after one more measurement. */
async function measured(
  before: KnownStatus,
  deps: WriterDeps,
  { isStart, signal }: { readonly isStart: boolean; readonly signal: AbortSignal },
): Promise<KnownStatus> {
  const { state, counts, missing, periodMs, clock, log } = deps
  const [facts, counted, answers] = await Promise.all([
    readFacts(state).catch((error: unknown) => {
      log.warn('The status page has no answer of the state', { error: messageOf(error) })
      return undefined
    }),
    counts(signal),
    askProbes(deps, signal),
  ])
  const nowMs = clock.wallMs()
  const measures = measuresOf({ facts, last: before.facts, counted, answers, missing })
  return {
    history: addMeasures(before.history, measures, { nowMs, periodMs, isStart }),
    facts: facts ?? before.facts,
    factsAtMs: facts === undefined ? before.factsAtMs : nowMs,
  }
}

type Answers = { readonly [Name in keyof Probes]: boolean | undefined }

async function askProbes({ probes }: WriterDeps, signal: AbortSignal): Promise<Answers> {
  const [api, storage, databases, functions, webhooks, portal] = await Promise.all([
    probes.api(signal),
    probes.storage(signal),
    probes.databases?.(signal),
    probes.functions(signal),
    probes.webhooks(signal),
    probes.portal?.(signal),
  ])
  return { api, storage, databases, functions, webhooks, portal }
}

type Looks = {
  /** Undefined while the state does not answer. */
  readonly facts: StateFacts | undefined
  readonly last: StateFacts | null
  readonly counted: ReadonlyMap<string, RequestFailures>
  readonly answers: Answers
  readonly missing: WriterDeps['missing']
}

/** The measures by part; the models as the state last named them. */
export function measuresOf({
  facts,
  last,
  counted,
  answers,
  missing,
}: Looks): ReadonlyMap<string, PartMeasure> {
  const models = (facts ?? last)?.models ?? []
  const answered = (isThere: boolean | undefined) =>
    isThere === undefined ? undefined : isThere ? 'ok' : 'down'
  const modelStates = models.map((model) =>
    facts === undefined
      ? undefined
      : ({ ready: 'ok', loading: undefined, failed: 'down' } as const)[model.state],
  )
  // A part that begins with its first use is not missing before.
  const used = (isBegun: boolean | undefined, isThere: boolean | undefined) =>
    isBegun === true || isThere === true ? answered(isThere) : undefined
  const looks: Readonly<Record<string, PartMeasure>> = {
    api: answered(answers.api),
    // One model of several that failed is no end of inference.
    [INFERENCE_PART]: modelStates.includes('ok')
      ? worst(modelStates.map((one) => (one === 'down' ? 'degraded' : one)))
      : worst(modelStates),
    storage: answered(answers.storage),
    databases: used((facts ?? last)?.hasDatabases, answers.databases),
    [FUNCTIONS_PART]: used((facts ?? last)?.hasRoutes, answers.functions),
    ledger: facts === undefined ? 'down' : facts.ledger,
    receipts: facts?.receipts,
    portal: answered(answers.portal),
    webhooks: used((facts ?? last)?.hasWebhooks, answers.webhooks),
    ...Object.fromEntries(models.map(({ id }, index) => [modelPart(id), modelStates[index]])),
  }
  const measure = (id: string, needsApi: boolean): [string, PartMeasure] => {
    if (missing.includes(id)) return [id, undefined]
    if (needsApi && answers.api === false) return [id, 'down']
    const counts = ofCounts(counted.get(id) ?? { requests: 0, failures: 0 })
    // One request of our own failed: that is not yet the end of a part.
    const probe = facts?.failedProbes.includes(id) === true ? 'degraded' : undefined
    return [id, worst([looks[id], counts, probe])]
  }
  return new Map([
    ...PARTS.map(({ id, needsApi }) => measure(id, needsApi)),
    ...models.map(({ id }) => measure(modelPart(id), true)),
  ])
}

/** A file that cannot be read is begun anew: the page is worth more than its history. */
function readKnown(folder: string, log: Logger): KnownStatus {
  const none: KnownStatus = { history: NO_HISTORY, facts: null, factsAtMs: 0 }
  try {
    const text = readStatusFile(folder, KNOWN_FILE)
    if (text === undefined) return none
    const { version, ...known } = JSON.parse(text) as KnownStatus & { readonly version: number }
    return version === KNOWN_VERSION ? known : none
  } catch (error) {
    log.error('The history of the status page begins anew: its file cannot be read', {
      error: messageOf(error),
    })
    return none
  }
}
