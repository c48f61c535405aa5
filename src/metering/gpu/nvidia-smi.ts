// The power of NVIDIA cards, by a long-lived `nvidia-smi` of the driver. NVML's counter of energy needs native code, and
// nvidia-smi has no field for energy. The mean of the last second, read five times a second, is within 1 % of that
// counter over windows that follow each other.
import { spawn, type ChildProcess } from 'node:child_process'
import { systemClock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { unavailable, type MeterSource } from '#metering/sources/source.ts'
import { CARD_FIELDS, readCardLine, type CardReading } from './card-line.ts'
import { createCardRounds, type CardRounds } from './card-rounds.ts'

/** All NVIDIA cards of the machine, as one sensor. */
export interface GpuSource extends MeterSource {
  readonly cards: readonly CardReading[]
  /** Cumulative time in which something ran on a card, of all cards together. */
  busyNs(): bigint
  /** A program came to the cards or left them. */
  forgetIdle(): void
  /** The newest reading; undefined while there is none. */
  readonly milliwatts: bigint | undefined
}

export type NvidiaSmiOptions = {
  readonly environment: Readonly<Record<string, string>>
  readonly log: Logger
  readonly signal?: AbortSignal
  /** For tests; the name is looked up in PATH. */
  readonly program?: string
  readonly everyMs?: number
  readonly openTimeoutMs?: number
  readonly restartMs?: number
}

const EVERY_MS = 200
/** A driver without persistence mode wakes its cards first, which takes some seconds. */
const OPEN_TIMEOUT_MS = 20_000
const LINE_CHARACTERS_MAX = 4096
const WORDS_MAX = 300
const RESTART_MS = 1000
const RESTART_MS_MAX = 60_000
/** The program hangs where a card has fallen off its bus. */
const SILENT_MS = 10_000
/** Relative error beside the driver's: at bursts of load the mean was 0.4 % below NVML's counter. */
const BAND_PCT = 1
/** "This reading is accurate to within +/- 5 watts": `nvidia-smi --help-query-gpu` on power.draw.average. */
const ERROR_MILLIWATTS_PER_CARD = 5000n
/** Where a card does not tell its limit; the most that a card of today may draw is 1.4 kW. */
const LIMIT_MILLIWATTS = 1_500_000n
/** The highest reading in percent of the limit: a mean of a second may be a little above it. */
const CEILING_PERCENT = 120n

/** Starts the program and waits for each card's first reading. Throws `gpu_unmetered` with the reason. */
export async function openNvidiaSmi(options: NvidiaSmiOptions): Promise<GpuSource> {
  const stream = new CardStream(options)
  try {
    const cards = await stream.opened()
    return sourceOf(stream, cards)
  } catch (error) {
    await stream.close()
    throw error
  }
}

function sourceOf(stream: CardStream, cards: readonly CardReading[]): GpuSource {
  const limits = cards.map(({ limitMilliwatts }) => limitMilliwatts ?? LIMIT_MILLIWATTS)
  const ceiling = (limits.reduce((sum, limit) => sum + limit, 0n) * CEILING_PERCENT) / 100n
  return {
    name: 'nvidia-smi',
    method: 'nvml',
    bandPct: BAND_PCT,
    errorMilliwatts: ERROR_MILLIWATTS_PER_CARD * BigInt(cards.length),
    cards,
    get idleMilliwatts() {
      return stream.rounds?.idleMilliwatts ?? 0n
    },
    forgetIdle: () => stream.rounds?.forgetIdle(),
    get milliwatts() {
      return stream.rounds?.milliwatts
    },
    busyNs: () => stream.rounds?.busyNs ?? 0n,
    ceilingMilliwatts: () => ceiling,
    read: () => Promise.resolve(stream.take()),
    close: () => stream.close(),
  }
}

/** The program, started again whenever it ends, and the rounds of its lines. */
class CardStream {
  rounds: CardRounds | undefined
  readonly #options: NvidiaSmiOptions
  readonly #first = new Map<string, CardReading>()
  readonly #opening = Promise.withResolvers<readonly CardReading[]>()
  #child: ChildProcess | undefined
  #text = ''
  /** The last line that is no reading, or the reason of the program's end. */
  #words = ''
  #heardMs = systemClock.monotonicMs()
  #delayMs: number
  #isClosed = false
  readonly #stops: (() => void)[] = []
  #cancelRestart: (() => void) | undefined

  constructor(options: NvidiaSmiOptions) {
    this.#options = options
    this.#delayMs = options.restartMs ?? RESTART_MS
    this.#start()
    const watching = setInterval(() => this.#endSilent(), SILENT_MS / 4)
    this.#stops.push(() => clearInterval(watching))
  }

  /** The cards, once each has told one reading. */
  async opened(): Promise<readonly CardReading[]> {
    const { openTimeoutMs = OPEN_TIMEOUT_MS, signal } = this.#options
    const timer = setTimeout(() => {
      const late = `no reading of a card in ${openTimeoutMs} ms${this.#because()}`
      this.#refuse(late)
    }, openTimeoutMs)
    const leave = () => this.#opening.reject(signal?.reason)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return await this.#opening.promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
  }

  take(): ReturnType<CardRounds['take']> {
    const power = this.rounds?.take(systemClock.monotonicMs()) ?? unavailable('not opened')
    return power.kind === 'power' ? power : unavailable(power.reason + this.#because())
  }

  /** Resolves when the program is gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRestart?.()
    for (const stop of this.#stops) stop()
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    // A program that waits for a card that is gone cannot be killed; nobody waits for that.
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 1000).unref())])
  }

  #start(): void {
    const { program = 'nvidia-smi', everyMs = EVERY_MS, environment } = this.#options
    const words = [
      `--query-gpu=${CARD_FIELDS.join(',')}`,
      '--format=csv,noheader,nounits',
      `--loop-ms=${everyMs}`,
    ]
    const child = spawn(program, words, {
      // Figures of another locale would have a comma.
      env: { ...environment, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#text = ''
    this.#heardMs = systemClock.monotonicMs()
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#heard(text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#said(text))
    child.once('error', (error) => this.#said(messageOf(error)))
    child.once('close', (code, killed) => this.#ended(killed ?? `code ${String(code)}`))
  }

  #heard(text: string): void {
    const lines = (this.#text + text).split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
    if (this.#text.length <= LINE_CHARACTERS_MAX) return
    this.#said(`a line of more than ${LINE_CHARACTERS_MAX} characters`)
    this.#text = ''
    this.#child?.kill('SIGKILL')
  }

  #line(line: string): void {
    const reading = readCardLine(line)
    if (reading === undefined) return this.#said(line)
    const nowMs = systemClock.monotonicMs()
    this.#heardMs = nowMs
    if (this.rounds === undefined) this.#learnCards(reading)
    this.rounds?.add(reading, nowMs)
    if (this.rounds?.milliwatts === undefined) return
    this.#words = ''
    this.#delayMs = this.#options.restartMs ?? RESTART_MS
  }

  /** The first round is over when a card comes again. */
  #learnCards(reading: CardReading): void {
    if (!this.#first.has(reading.uuid)) return void this.#first.set(reading.uuid, reading)
    const cards = [...this.#first.values()]
    const blind = cards.find(({ milliwatts }) => milliwatts === undefined)
    if (blind !== undefined) return this.#refuse(`${blind.name} gives no power.draw.average`)
    this.rounds = createCardRounds(new Set(this.#first.keys()))
    this.#opening.resolve(cards)
  }

  #refuse(reason: string): void {
    this.#opening.reject(fault('gpu_unmetered', `Could not meter the GPU: ${reason}`))
  }

  #said(text: string): void {
    const words = text.trim().slice(0, WORDS_MAX)
    if (words !== '') this.#words = words
  }

  #ended(how: string): void {
    if (this.#words === '') this.#said(this.#text)
    this.#child = undefined
    this.rounds?.restart()
    if (this.#words === '') this.#words = `it ended with ${how}`
    if (this.rounds === undefined) this.#refuse(`nvidia-smi: ${this.#words}`)
    if (this.#isClosed) return
    this.#options.log.warn('nvidia-smi has ended and is started again', {
      reason: this.#words,
      inMs: this.#delayMs,
    })
    this.#cancelRestart = systemClock.setTimer(this.#delayMs, () => this.#start())
    this.#delayMs = Math.min(this.#delayMs * 2, RESTART_MS_MAX)
  }

  #endSilent(): void {
    if (systemClock.monotonicMs() - this.#heardMs < SILENT_MS) return
    this.#said(`no line for ${SILENT_MS} ms`)
    this.#child?.kill('SIGKILL')
  }

  #because(): string {
    return this.#words === '' ? '' : `: ${this.#words}`
  }
}
