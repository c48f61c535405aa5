// The price of looking, by the product's own meters. The overview is open in a browser; its account is at rest, and then
// charged each second. The figures are those that the live stream tells of itself.
import { setTimeout as pause } from 'node:timers/promises'
import type { Ergon } from '../test/start-ergon.ts'
import type { Person } from '../test/portal/browser.ts'

const SECONDS = { whole: 60, quick: 24 }
const OPENED_MS = 15_000
const EACH_MS = 1000

/** Keeps the cost of the page's stream until each of its messages, in nanojoules. */
export const WATCH_LOOKS = `window.looks = []
window.EventSource = class extends EventSource {
  constructor(...given) {
    super(...given)
    this.addEventListener('message', ({ data }) => {
      const { whole, looking_nj } = JSON.parse(data)
      if (whole) looks.length = 0
      looks.push({ atMs: performance.now(), nj: Number(looking_nj) })
    })
  }
}`

type Look = { readonly atMs: number; readonly nj: number }

export type Looking = {
  /** The energy of the readings of the first seconds. */
  readonly openingMj: number
  readonly restMjS: number
  readonly busyMjS: number
  /** Charges of the account while the overview was opened and looked at, at rest: requests of the page, the stream. */
  readonly chargedMj: number
  readonly charges: number
}

/** Leaves the page on the overview. */
export async function measureLooking(
  ergon: Ergon,
  { page, ask }: Person,
  { portal, token, isQuick }: { portal: string; token: string; isQuick: boolean },
): Promise<Looking> {
  const seconds = isQuick ? SECONDS.quick : SECONDS.whole
  const sums = async () => {
    const { body } = await ask('GET', '/v1/ledger?limit=1')
    const { entries, energy_nj: nj } = body['sums'] as { entries: number; energy_nj: string }
    return { entries, nj: Number(nj) }
  }
  const looks = async () => (await page.evaluate('looks')) as readonly Look[]
  const rate = async (during: () => Promise<unknown>) => {
    const before = (await looks()).length
    await during()
    const all = (await looks()).slice(Math.max(0, before - 1))
    const [first, last] = [all[0], all.at(-1)]
    if (first === undefined || last === undefined || first === last)
      throw new Error('The stream told nothing')
    return ((last.nj - first.nj) / (last.atMs - first.atMs)) * 1e-3
  }
  const before = await sums()
  await page.goto(`${portal}/`)
  await page.locator('.hero .register b').first().waitFor()
  await pause(OPENED_MS)
  const openingMj = ((await looks()).at(-1)?.nj ?? Number.NaN) / 1e6
  const restMjS = await rate(() => pause(seconds * 1000))
  // The stream of a page that has left ends, and is charged.
  await page.goto('about:blank')
  await pause(EACH_MS * 2)
  await page.goto(`${portal}/settings`)
  const after = await sums()
  await page.goto(`${portal}/`)
  await page.locator('.hero .register b').first().waitFor()
  await pause(OPENED_MS)
  const busyMjS = await rate(async () => {
    for (let second = 0; second < seconds; second++) {
      const answer = await fetch(`${ergon.baseUrl}/v1/databases`, {
        headers: { authorization: `Bearer ${token}` },
      })
      await answer.arrayBuffer()
      await pause(EACH_MS)
    }
  })
  return {
    openingMj,
    restMjS,
    busyMjS,
    chargedMj: (after.nj - before.nj) / 1e6,
    charges: after.entries - before.entries,
  }
}
