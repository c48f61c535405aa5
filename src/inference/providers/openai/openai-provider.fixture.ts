// An upstream and a cell of scripts, with providers that ask them: new ones for each test, so that one test's
// lies do not open the breaker of the next.
import { after, afterEach, before, beforeEach } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger, Secret } from '#base/log.ts'
import { offerOf } from '#inference/testing/offers.ts'
import {
  startScriptedUpstream,
  streaming,
  type ScriptedUpstream,
} from '#inference/testing/scripted-upstream.ts'
import { createOpenaiProvider } from './openai-provider.ts'
import type { GenerationCall, GenerationEvent, Provider } from '#inference/providers/provider.ts'

type Upstreams = {
  readonly server: ScriptedUpstream
  readonly cell: ScriptedUpstream
  /** Asks the server, with a key that nobody may see. */
  readonly remote: Provider
  /** Asks the cell. */
  readonly local: Provider
  /** The pauses before the providers asked again, in ms. */
  readonly waits: number[]
  /** Their log lines. */
  readonly lines: string[]
}

/** Longer than an honest answer takes on a busy machine. */
const PATIENT_MS = 60_000

/**
 * Starts both for the tests of a file, hands them to each test with new providers, and closes all. `limitMs` is the
 * time limit of the providers for a connection, a head, and the bytes after it.
 */
export function withUpstreams(opened: (upstreams: Upstreams) => void, limitMs = PATIENT_MS): void {
  let server: ScriptedUpstream
  let cell: ScriptedUpstream
  let remote: Provider
  let local: Provider
  before(async () => {
    server = await startScriptedUpstream('port', streaming())
    cell = await startScriptedUpstream('socket', streaming())
  })
  after(() => Promise.all([server.close(), cell.close()]))
  beforeEach(() => {
    server.asked.length = 0
    const waits: number[] = []
    const lines: string[] = []
    const deps = {
      clock: systemClock,
      log: createLogger('test', { write: (line) => void lines.push(line) }),
      sleep: async (ms: number) => void waits.push(ms),
    }
    const timeouts = { connectMs: limitMs, headersMs: limitMs, idleMs: limitMs }
    remote = createOpenaiProvider(
      {
        name: 'up',
        at: { kind: 'upstream', baseUrl: server.baseUrl, bandPct: 60 },
        apiKey: new Secret('sk-very-secret'),
        timeouts,
      },
      deps,
    )
    local = createOpenaiProvider(
      { name: 'cell-1', at: { kind: 'cell', socketPath: cell.socketPath }, timeouts },
      deps,
    )
    opened({ server, cell, remote, local, waits, lines })
  })
  afterEach(() => Promise.all([remote.close(), local.close()]))
}

/** A chat of 80 bytes, with more fields or others. */
export const callOf = (more: Partial<GenerationCall> = {}): GenerationCall => ({
  shape: 'chat',
  offer: offerOf(),
  body: { messages: [] },
  promptBytes: 80,
  promptTokensMax: 160,
  choices: 1,
  tokensMax: 100,
  ...more,
})

/** All events of a call. Throws what the provider throws. */
export async function read(
  provider: Provider,
  call = callOf(),
  signal = new AbortController().signal,
): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = []
  for await (const some of provider.generate(call, signal)) events.push(...some)
  return events
}

/** The text that the events say. */
export const textOf = (events: readonly GenerationEvent[]): string =>
  events.map((event) => (event.kind === 'delta' ? (event.delta.content ?? '') : '')).join('')

/** Claims for an upstream without a meter, in nJ, one of each `used` event. */
export const energies = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) =>
    event.kind === 'used' && event.used.kind === 'upstream' ? [event.used.energyNj] : [],
  )
