// ergon meter: live watts of this node, how they split, and how they are known.
import { setTimeout as pause } from 'node:timers/promises'
import { control } from '#cli/client.ts'
import { dim, print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type Status = {
  meter: string
  now?: {
    method: string
    band_pct: string
    watts: string
    idle_watts: string
    idle_from: string
    busy_cpus: string
    fallback?: string
    split: { name: string; payer: string; watts: string }[]
  }
  model: { basis: string; band_pct: string; cpus: string }
  tariff_j_per_cpu_s: string
  true_up: Record<string, string>
  carbon: { marginal?: Marginal }
}

type Marginal = {
  source: string
  region: string
  mg_per_kwh?: string
  least?: { at: string; mg_per_kwh: string }
  failure?: string
}

const EVERY_MS = 1000

export async function run({ options }: CommandCall): Promise<void> {
  for (;;) {
    const status = (await control(options, { method: 'GET', path: '/meter' })) as Status
    if (options.json) printJson(status)
    else show(status)
    if (options['watch'] !== true) return
    await pause(EVERY_MS)
  }
}

function show({ now, model, tariff_j_per_cpu_s: tariff, true_up: trueUp, carbon }: Status): void {
  if (now === undefined) return print('the first window is not closed yet')
  print(
    `${now.watts} W now, of which ${now.idle_watts} W idle; ${now.busy_cpus} of ${model.cpus} processors busy`,
  )
  print(
    `method ${now.method}, band ±${now.band_pct} %, model ${model.basis}, tariff ${tariff} J per CPU-second`,
  )
  if (now.idle_from === 'model' && now.method !== 'model')
    print(
      'idle watts are guessed by the model: run `ergon meter calibrate`, or set ERGON_SENSOR_IDLE_MILLIWATTS',
    )
  if (now.fallback !== undefined) print(`the model stands in: ${now.fallback}`)
  if (carbon.marginal !== undefined) print(marginalText(carbon.marginal))
  print(
    table(
      ['CELL', 'PAYER', 'WATTS'],
      now.split.map((share) => [share.name, share.payer, share.watts]),
    ),
  )
  print(
    dim(
      `true-up ${Object.entries(trueUp)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')}`,
    ),
  )
}

const grams = (mgPerKwh: string) => `${Number(mgPerKwh) / 1000} g/kWh`

/** For deciding when to run: a bill never has it. */
function marginalText({ source, region, mg_per_kwh: now, least, failure }: Marginal): string {
  const figures =
    now === undefined || least === undefined
      ? 'no forecast'
      : `${grams(now)} now, least ${grams(least.mg_per_kwh)} at ${least.at}`
  const why = failure === undefined ? '' : `; ${failure}`
  return `one more kWh would cause ${figures} (${source}, ${region}; marginal, never billed${why})`
}
