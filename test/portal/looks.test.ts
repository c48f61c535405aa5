// The console as readers and devices ask for it: colours of the system, paper, no motion. And the landing page of a service
// that is by invitation.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { PROBE_NAME } from '#contract/status/probe-names.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import {
  done,
  newPerson,
  openBrowser,
  QUIET_PAGE,
  signUp,
  withoutBrowser,
  type Person,
} from './browser.ts'
import { buildConsole } from './console-build.ts'

product(PLAIN, { ERGON_SIGN_UP: 'invite', ERGON_FREE_TIER_J: '0' })

/** `rgb()` of a colour of an element, as it is painted. */
const painted = (page: Page, selector: string, property = 'backgroundColor'): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`)

/** Headings that are wider than their column. */
const CUT_HEADINGS = `[...document.querySelectorAll('.entries th:not(:has(.spoken))')]
  .filter(({ offsetWidth, clientWidth, scrollWidth }) => offsetWidth > 0 && scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`
const NAME_PX = "document.querySelector('.entries td.what').clientWidth"

describe('looks of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let owner: Person
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    owner = await newPerson(browser, portal(), QUIET_PAGE)
    const { account, control } = sharedErgon()
    const { url } = await control('member.recover', { target: account })
    await signUp(owner, { invitation: url.split('#')[1] ?? '' })
  })
  after(() => browser.close())
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('a service by invitation shows no form for strangers, and promises no free joules', async () => {
    await using eve = await newPerson(browser, portal())
    await eve.page.getByRole('heading', { name: 'This Ergon is by invitation' }).waitFor()
    assert.ok(!(await eve.page.getByRole('button', { name: 'Create a passkey' }).isVisible()))
    assert.doesNotMatch(
      (await eve.page.locator('main').textContent()) ?? '',
      /a day are free|\{\w+\}/,
    )
  })

  test('Overview of the first account says that its joules include the probes, where there are some', async () => {
    const { page } = owner
    const link = page.getByRole('link', { name: 'the probes of this installation' })
    await page.goto(portal())
    await page.getByText('Joules today').waitFor()
    assert.equal(await link.count(), 0)
    await page.route('**/v1/probe', (route) =>
      route.fulfill({ json: { components: [], every_seconds: 60 } }),
    )
    await page.reload()
    await link.click()
    await page.getByRole('heading', { name: 'Probes', exact: true }).first().waitFor()
    await page.unroute('**/v1/probe')
  })

  test('Ledger of the first account names the probe, whose token is on the last page of tokens', async () => {
    const { page } = owner
    const made = await owner.ask('POST', '/v1/tokens', { name: 'probing', scope: 'read' })
    const { id, token } = done(made, 201)
    const headers = { authorization: `Bearer ${String(token)}` }
    assert.ok((await fetch(`${sharedErgon().baseUrl}/v1/storage/buckets`, { headers })).ok)
    await page.route('**/v1/tokens**', (route) => {
      const isLast = route.request().url().includes('cursor=')
      const data = isLast ? [{ id, name: PROBE_NAME }] : []
      return route.fulfill({ json: { data, next_cursor: isLast ? null : 'last' } })
    })
    await page.goto(`${portal()}/ledger`)
    await page.getByText('the installation’s own probe').first().waitFor()
    await page.unroute('**/v1/tokens**')
  })

  test('in the colours of the system, the current page, a bar and a choice stand out', async () => {
    const { page } = owner
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto(`${portal()}/operator`)
    await page.locator('.power-bar .billed').waitFor({ state: 'attached' })
    const [current, other] = ['.circuits [aria-current]', '.circuits :not([aria-current])']
    assert.notEqual(await painted(page, current), await painted(page, other))
    const [here, elsewhere] = ['[aria-current=page]', ':not([aria-current])'].map(
      (which) => `.board li a${which}`,
    )
    assert.notEqual(await painted(page, here ?? ''), await painted(page, elsewhere ?? ''))
    assert.notEqual(await painted(page, '.limit .bar span'), await painted(page, '.limit .bar'))
    assert.notEqual(
      await painted(page, '.power-bar .billed'),
      await painted(page, '.power-bar .idle'),
    )
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { selected: true }).first().waitFor()
    const [chosen, rest] = ['true', 'false'].map((is) => `[role=option][aria-selected=${is}]`)
    assert.notEqual(await painted(page, chosen ?? ''), await painted(page, rest ?? ''))
  })

  test('a ledger on paper has its rows, and beside a receipt the receipt alone', async () => {
    const { page } = owner
    await page.emulateMedia({ forcedColors: 'none' })
    await page.goto(`${portal()}/ledger`)
    const row = page.locator('[data-row] a').first()
    await row.waitFor()
    // A page that is loaded is on the screen again.
    await page.emulateMedia({ media: 'print' })
    assert.ok(await row.isVisible())
    assert.ok(await page.getByRole('heading', { name: 'Ledger' }).isVisible())
    await page.emulateMedia({ media: 'screen' })
    await page.goto(portal() + String(await row.getAttribute('href')))
    await page.getByText('Nothing hidden').waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.ok(!(await page.locator('.ledger .list').isVisible()))
    assert.ok(!(await page.getByRole('button', { name: 'Download proof' }).isVisible()))
    await page.emulateMedia({ media: 'screen' })
  })

  test('beside a receipt the ledger shows whole headings, and names with room', async () => {
    const { page } = owner
    await page.emulateMedia({ media: 'screen' })
    await page.goto(`${portal()}/ledger`)
    const row = page.locator('[data-row] a').first()
    await row.waitFor()
    await page.goto(portal() + String(await row.getAttribute('href')))
    await page.getByText('Nothing hidden').waitFor()
    for (const width of [1440, 1280, 1120]) {
      await page.setViewportSize({ width, height: 900 })
      assert.deepEqual(await page.evaluate(CUT_HEADINGS), [], `${width} px`)
      assert.ok(Number(await page.evaluate(NAME_PX)) >= 80, `${width} px`)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('paper is light, whatever theme was chosen', async () => {
    const { page } = owner
    await page.emulateMedia({ forcedColors: 'none' })
    await page.goto(`${portal()}/settings`)
    await page.getByLabel('Theme').selectOption('dark')
    const dark = await painted(page, 'html')
    await page.emulateMedia({ media: 'print' })
    const paper = await painted(page, 'html')
    assert.notEqual(paper, dark)
    await page.emulateMedia({ media: 'screen' })
    await page.getByLabel('Theme').selectOption('light')
    await page.emulateMedia({ media: 'print' })
    assert.equal(await painted(page, 'html'), paper)
    await page.emulateMedia({ media: 'screen' })
  })
})
