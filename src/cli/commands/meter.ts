// ergon meter: live watts of this node, how they split, and how they are known.
import { setTimeout as pause } from 'node:timers/promises'
import { control } from '#cli/client.ts'
import { dim, openPages, print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import type { ControlAnswer } from '#contract/control.ts'

type MeterAnswer = ControlAnswer<'meter.status'>
type GpuAnswer = NonNullable<MeterAnswer['gpu']>
type MarginalCarbon = NonNullable<MeterAnswer['carbon']['marginal']>

const EVERY_MS = 1000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function run({ options }: CommandCall): Promise<void> {
  const ask = () => control(options, 'meter.status', {})
  if (options['watch'] === true) return await watch(ask, options.json === true)
  const status = await ask()
  if (options.json) printJson(status)
  else print(pageOf(status))
}

/** Shows the meter every second until a signal; as JSON with one line each time. */
async function watch(ask: () => Promise<MeterAnswer>, isJson: boolean): Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const stop = () => stopping.abort()
  for (const name of SIGNALS) process.once(name, stop)
  const pages = isJson ? { show: print, close: () => undefined } : openPages()
  try {
    while (!signal.aborted) {
      const status = await ask()
      pages.show(isJson ? JSON.stringify(status) : pageOf(status))
      await pause(EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    pages.close()
    for (const name of SIGNALS) process.off(name, stop)
  }
}

/** The text of `ergon meter`, without --json. */
export function pageOf({
  now,
  model,
  tariff_j_per_cpu_s: tariff,
  true_up: trueUp,
  carbon,
  indirect,
  gpu,
}: MeterAnswer) {
  if (now === undefined) return 'the first window is not closed yet'
  return [
    `${now.watts} W now, of which ${now.idle_watts} W idle; ${now.busy_cpus} of ${model.cpus} processors busy`,
    `method ${now.method}, band ±${now.band_pct} %, model ${model.basis}, tariff ${tariff} J per CPU-second`,
    ...(now.idle_from === 'model' && now.method !== 'model'
      ? [
          'idle watts are guessed by the model: run `ergon meter calibrate`, or set ERGON_SENSOR_IDLE_MILLIWATTS',
        ]
      : []),
    ...(now.fallback === undefined ? [] : [`the model stands in: ${now.fallback}`]),
    ...(carbon.marginal === undefined ? [] : [marginalText(carbon.marginal)]),
    table(
      ['CELL', 'PAYER', 'WATTS'],
      now.split.map((share) => [share.name, share.payer, share.watts]),
    ),
    ...(gpu === undefined ? [] : gpuLines(gpu)),
    ...indirectLines(indirect),
    trueUpLine('true-up', trueUp),
  ].join('\n')
}

/** The billed energy against its share of the meter's windows. */
const trueUpLine = (title: string, totals: MeterAnswer['true_up']): string =>
  dim([title, ...Object.entries(totals).map(([name, value]) => `${name}=${value}`)].join(' '))

/** The cards, in all, and the models that use them. */
function gpuLines({
  now,
  model,
  tariff_j_per_cpu_s: tariff,
  true_up: trueUp,
}: GpuAnswer): string[] {
  if (now === undefined) return []
  return [
    `GPU: ${now.watts} W now, of which ${now.idle_watts} W idle; ${model.basis}`,
    `method ${now.method}, band ±${now.band_pct} %, mean tariff ${tariff} J per second of steps`,
    ...(now.fallback === undefined ? [] : [`a guess stands in: ${now.fallback}`]),
    table(
      ['CELL', 'PAYER', 'WATTS OF THE GPU', 'J PER SECOND OF STEPS'],
      now.split.map((share) => [
        share.name,
        share.payer,
        share.watts,
        share.tariff_j_per_cpu_s ?? '',
      ]),
    ),
    trueUpLine('true-up of the GPU', trueUp),
  ]
}

/** CPU that cells of the whole node spend on requests, and how it is billed, once any was learned. */
function indirectLines({
  level_milli,
  active_second_ms,
  operations,
}: MeterAnswer['indirect']): string[] {
  if (operations.length === 0) return []
  return [
    `other cells, by request: ${Number(level_milli) / 10} % of these, and a share of ${active_second_ms} ms for each second with requests`,
    table(
      ['OPERATION', 'CPU MS', '±'],
      operations.map((one) => [one.operation, one.cpu_ms, one.deviation_ms]),
    ),
  ]
}

const grams = (mgPerKwh: string) => `${Number(mgPerKwh) / 1000} g/kWh`

/** For deciding when to run: a bill never has it. */
function marginalText({ source, region, mg_per_kwh: now, least, failure }: MarginalCarbon): string {
  const figures =
    now === undefined || least === undefined
      ? 'no forecast'
      : `${grams(now)} now, least ${grams(least.mg_per_kwh)} at ${least.at}`
  const why = failure === undefined ? '' : `; ${failure}`
  return `one more kWh would cause ${figures} (${source}, ${region}; marginal, never billed${why})`
}
