// The console in a browser: when the overview shows its first figure, and what moves on each page while it loads. Then the
// frames of a ledger of ten thousand rows while it scrolls, and the price of looking.
import type { Browser } from 'playwright-core'
import { buildConsole } from '../test/portal/console-build.ts'
import { CHROMIUM, newPerson, openBrowser, signUp, type Person } from '../test/portal/browser.ts'
import { leastShifts, ROUTES, SHIFT_MAX, WATCH_SHIFTS, type Shifts } from '../test/portal/shifts.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { measureLooking, WATCH_LOOKS } from './looking.ts'
import { startProduct } from './product.ts'
import { median, type Section } from './report.ts'

const ROWS = { whole: 10_000, quick: 2_000 }
const LOADS = 9
const AT_ONCE = 16
const SETTLED_MS = 1_500
const SCROLL_MS = 6_000
/** 150 rows a second. */
const SCROLL_PX_S = 6_000
const USABLE_MS_MAX = 1_000
/** The time of a frame at 60 a second. */
const FRAME_MS_MAX = 16.7
const LOOKING_MJ_MAX = 1

/** The moment of the first figure, and the longest task of the main thread. */
const WATCH_FIGURES = `window.seen = { figureMs: NaN, taskMs: 0 }
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) seen.taskMs = Math.max(seen.taskMs, duration)
}).observe({ type: 'longtask', buffered: true })
const look = () => {
  const figure = document.querySelector('.hero .register b')
  if (figure?.checkVisibility({ visibilityProperty: true })) seen.figureMs = performance.now()
  else requestAnimationFrame(look)
}
document.addEventListener('DOMContentLoaded', look)`

/** Scrolls from the top on with each frame, and gives the time of each. */
const SCROLL = `new Promise((resolve) => {
  const frames = []
  const began = performance.now()
  let last = began
  const step = (now) => {
    frames.push(now - last)
    last = now
    scrollTo(0, ((now - began) * ${SCROLL_PX_S}) / 1000)
    if (now - began < ${SCROLL_MS}) requestAnimationFrame(step)
    else resolve(frames.slice(1))
  }
  requestAnimationFrame(step)
})`

export async function runConsole(isQuick = false): Promise<Section> {
  const rows = isQuick ? ROWS.quick : ROWS.whole
  await buildConsole()
  await using ergon = await startProduct()
  await using browser = await openBrowser(CHROMIUM)
  const portal = String(ergon.ready['portal_url'])
  await using ada = await newPerson(browser, portal)
  await ada.page.setViewportSize({ width: 1440, height: 900 })
  await signUp(ada, { name: 'measured' })
  await ada.context.addInitScript({ content: WATCH_FIGURES })
  await ada.context.addInitScript({ content: WATCH_SHIFTS })
  const loads = await loadOften(ada, portal)
  const shifts = new Map<string, Shifts>()
  for (const path of ROUTES) shifts.set(path, await leastShifts(ada.page, portal + path))
  const token = await fund(ergon, ada)
  await ada.context.addInitScript({ content: WATCH_LOOKS })
  const looking = await measureLooking(ergon, ada, { portal, token, isQuick })
  await charge(ergon, token, rows)
  const scroll = await scrollLedger(browser, ada, portal, rows)
  const worst = Math.max(...[...shifts.values()].map(({ sum }) => sum))
  return {
    name: 'console',
    title: 'The console in a browser',
    bars: [
      {
        what: 'overview, first figure',
        value: median(loads.map(({ ms }) => ms)),
        most: USABLE_MS_MAX,
        digits: 0,
        unit: 'ms',
      },
      { what: 'largest layout shift of a page', value: worst, most: SHIFT_MAX, digits: 4 },
      {
        what: `frame of the ledger of ${rows.toLocaleString('en')} rows, mean`,
        value: scroll.meanMs,
        most: FRAME_MS_MAX,
        digits: 2,
        unit: 'ms',
      },
      {
        what: 'CPU of the page for such a frame',
        value: scroll.cpuMs,
        most: FRAME_MS_MAX,
        digits: 2,
        unit: 'ms',
      },
      {
        what: 'looking at the overview of an account at rest, a second',
        value: looking.restMjS,
        most: LOOKING_MJ_MAX,
        digits: 2,
        unit: 'mJ',
      },
    ],
    tables: [
      {
        caption: 'What looking costs, by the product’s own meters',
        columns: ['', 'mJ'],
        rows: [
          ['the first 15 seconds of a live stream', looking.openingMj.toFixed(1)],
          ['a second of an account at rest', looking.restMjS.toFixed(2)],
          ['a second of an account with a charge a second', looking.busyMjS.toFixed(2)],
          [
            `all ${looking.charges} charges of the visit at rest: the page’s requests and its stream`,
            looking.chargedMj.toFixed(1),
          ],
        ],
      },
      {
        caption: `The overview, ${LOADS} loads of a warm server`,
        columns: ['', 'median', 'slowest'],
        rows: [
          ['first figure, ms', ...middleAndMost(loads.map(({ ms }) => ms))],
          ['longest task, ms', ...middleAndMost(loads.map(({ taskMs }) => taskMs))],
        ],
      },
      {
        caption: 'Layout shifts of each page that has any',
        columns: ['page', 'sum', 'moved'],
        rows: [...shifts]
          .filter(([, { sum }]) => sum > 0)
          .map(([path, { sum, moved }]) => [path, sum.toFixed(4), moved.slice(0, 3).join(' ')]),
      },
      {
        caption: 'Frames of the scrolling ledger',
        columns: ['frames', 'p50 ms', 'p95 ms', 'p99 ms', 'longest ms'],
        rows: [[String(scroll.count), ...scroll.percentiles.map((ms) => ms.toFixed(1))]],
      },
    ],
    notes: [
      `Debian's Chromium without a GPU, which draws on the cores that the product uses too; pages: ${ROUTES.length}.`,
    ],
  }
}

const middleAndMost = (all: readonly number[]): string[] =>
  [median(all), Math.max(...all)].map((ms) => ms.toFixed(0))

async function loadOften({ page }: Person, portal: string) {
  const loads: { readonly ms: number; readonly taskMs: number }[] = []
  for (let load = 0; load < LOADS; load++) {
    await page.goto(`${portal}/`)
    await page.locator('.hero .register b').first().waitFor()
    // The frame after it has written its time.
    await page.waitForTimeout(SETTLED_MS)
    const { figureMs, taskMs } = (await page.evaluate('seen')) as {
      readonly figureMs: number
      readonly taskMs: number
    }
    loads.push({ ms: figureMs, taskMs })
  }
  return loads
}

/** Gives the account money; the result is a token of it. */
async function fund(ergon: Ergon, ada: Person): Promise<string> {
  const { body } = await ada.ask('GET', '/v1/session')
  const account = String(body['account_id'])
  await ergon.control('funds.add', { account, pusd: '4999999999999' })
  return (await ergon.control('token.create', { account, scope: 'deploy' })).token
}

/** So many requests of the account: each is a row. */
async function charge(ergon: Ergon, token: string, rows: number): Promise<void> {
  let left = rows
  const ask = async () => {
    while (left-- > 0) {
      const answer = await fetch(`${ergon.baseUrl}/v1/databases`, {
        headers: { authorization: `Bearer ${token}` },
      })
      if (answer.status !== 200) throw new Error(await answer.text())
      await answer.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
}

async function scrollLedger(browser: Browser, { page }: Person, portal: string, rows: number) {
  await page.goto(`${portal}/ledger`)
  await page.locator('[data-row]').first().waitFor()
  await readWhole(page, rows)
  await page.evaluate('scrollTo(0, 0)')
  await page.waitForTimeout(SETTLED_MS)
  // CPU, and not time: beside other work a frame comes late that has cost little.
  const system = await browser.newBrowserCDPSession()
  const cpuS = async () => {
    const { processInfo } = await system.send('SystemInfo.getProcessInfo')
    return processInfo
      .filter(({ type }) => type === 'renderer')
      .reduce((sum, { cpuTime }) => sum + cpuTime, 0)
  }
  const before = await cpuS()
  const frames = (await page.evaluate(SCROLL)) as number[]
  const usedS = (await cpuS()) - before
  const sorted = frames.toSorted((one, other) => one - other)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    count: frames.length,
    meanMs: frames.reduce((sum, ms) => sum + ms, 0) / frames.length,
    cpuMs: (usedS * 1000) / frames.length,
    percentiles: [at(0.5), at(0.95), at(0.99), at(1)],
  }
}

/** Goes to the end until all pages of the list are read. */
async function readWhole(page: Person['page'], rows: number): Promise<void> {
  const pages = Math.ceil(rows / 200) + 5
  for (let nth = 0; nth < pages * 4; nth++) {
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.waitForTimeout(150)
    const last = await page.locator('[data-row]').last().getAttribute('aria-rowindex')
    if (Number(last) >= rows) return
  }
  throw new Error('The list did not reach its end')
}
