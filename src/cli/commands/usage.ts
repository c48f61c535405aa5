// ergon usage: what the account used over a period, grouped; or the last request of this token.
import { apiGet } from '#cli/client.ts'
import { sinceOf } from '#cli/duration.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

const PAGES_MAX = 1000

type UsageEntry = {
  at?: string
  group: string | null
  name?: string | null
  requests: number
  energy_j: number
  energy_nj: string
  measured_nj: string
  carbon_mg: number
  charge_pusd: string
}

export async function run({ options }: CommandCall): Promise<void> {
  if (options['last'] === true) return await last(options)
  const from = sinceOf(options['since'])
  const group = String(options['groupBy'] ?? 'service')
  const step =
    options['step'] === undefined ? [] : [`step=${encodeURIComponent(String(options['step']))}`]
  const words = [`from=${from.toISOString()}`, `group_by=${encodeURIComponent(group)}`, ...step]
  const list = await allOf(options, words.join('&'))
  if (options.json) return printJson(list)
  print(
    table(
      [
        ...step.map(() => 'FROM'),
        group.toUpperCase(),
        'REQUESTS',
        'JOULES',
        'MEASURED',
        'CARBON mg',
        'pUSD',
      ],
      list.data.map((row) => [
        ...(row.at === undefined ? [] : [row.at]),
        row.name ?? row.group ?? `(no ${group})`,
        String(row.requests),
        String(row.energy_j),
        measuredShare(row),
        String(row.carbon_mg),
        row.charge_pusd,
      ]),
    ),
  )
}

/** The measured part of the energy, in whole percent: at 100 nothing was estimated. */
function measuredShare(row: { energy_nj: string; measured_nj: string }): string {
  const [energy, measured] = [BigInt(row.energy_nj), BigInt(row.measured_nj)]
  return energy === 0n ? '' : `${(measured * 100n) / energy} %`
}

type List = { data: UsageEntry[]; has_more: boolean; next_cursor: string | null }

/** All pages as one list. */
async function allOf(options: CommandCall['options'], query: string): Promise<List> {
  const ask = async (words: string) =>
    JSON.parse((await apiGet(options, `/v1/usage?limit=1000&${words}`)).text) as List
  const list = await ask(query)
  for (let pages = 1; list.next_cursor !== null && pages < PAGES_MAX; pages++) {
    const { data, has_more, next_cursor } = await ask(
      `cursor=${encodeURIComponent(list.next_cursor)}`,
    )
    list.data.push(...data)
    Object.assign(list, { has_more, next_cursor })
  }
  return list
}

async function last(options: CommandCall['options']): Promise<void> {
  const { text } = await apiGet(options, '/v1/usage/last')
  if (options.json) return print(text)
  for (const [key, value] of Object.entries(JSON.parse(text) as object))
    print(`${key.padEnd(12)} ${value === null ? '-' : String(value)}`)
}
