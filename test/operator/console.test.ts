// The operator's console in Chromium, with a real build: axe-core on every circuit, and an incident by keyboard alone.
// The long form: a build of the console takes 7 s of CPU.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { done, newPerson, openBrowser, signUp, withoutBrowser } from '../portal/browser.ts'
import { PLAIN } from '../settings.ts'

const ROOT = join(import.meta.dirname, '../..')
const skip = process.env['ERGON_LONG'] === '1' ? withoutBrowser : 'ERGON_LONG=1 runs it'
const CIRCUITS = [
  '',
  '/cells',
  '/models',
  '/probes',
  '/accounts',
  '/alarms',
  '/books',
  '/log',
  '/incidents',
]
const LOOKS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 320],
] as const
const TABS_MAX = 60
const SCRIPT = '<script>document.title = "run"</script> Disks answer slowly'

if (skip === false) {
  product(PLAIN)
  before(() => promisify(execFile)(process.execPath, [join(ROOT, 'portal', 'build.ts')]))
}

async function tabTo(page: Page, text: string): Promise<void> {
  for (let nth = 0; nth < TABS_MAX; nth++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate('document.activeElement?.textContent')) === text) return
  }
  assert.fail(`the focus never comes to "${text}"`)
}

async function violations(page: Page): Promise<unknown> {
  await page.evaluate(axe.source)
  return await page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0]?.html]))`,
  )
}

test('the operator sees the node and tells an incident; others do not', { skip }, async () => {
  const ergon = sharedErgon()
  const portal = String(ergon.ready['portal_url'])
  await ergon.sql(`insert into alarms (kind, detail) values ('journal_gap', '{"file": "<img>"}')`)
  await using browser = await openBrowser()
  await using me = await newPerson(browser, portal)
  const { url } = await ergon.control('member.recover', { target: ergon.account })
  await signUp(me, { invitation: url.split('#')[1] ?? '' })
  const { page } = me
  // Figures of a busy machine, as a probe has them after a minute.
  const { components, ...every } = done(await me.ask('GET', '/v1/probe'), 200) as {
    readonly components: readonly object[]
  }
  const last = { at: new Date().toISOString(), duration_ms: 21_190, energy_nj: '413000000' }
  const json = { ...every, components: components.map((one) => ({ ...one, last })) }
  await page.route('**/v1/probe', (route) => route.fulfill({ json }))
  for (const [colorScheme, width] of LOOKS) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    for (const circuit of CIRCUITS) {
      await page.goto(`${portal}/operator${circuit}`)
      await page.locator('main :is(.facts, table, .empty, .alarms)').first().waitFor()
      assert.deepEqual(await violations(page), [], `${circuit} ${colorScheme} ${width}`)
      const shownPx = await page.evaluate('document.documentElement.scrollWidth')
      assert.ok(Number(shownPx) <= width, `${circuit} is ${shownPx} px wide of ${width}`)
    }
  }
  await tabTo(page, 'Open an incident')
  await page.keyboard.press('Enter')
  await page.getByLabel('Summary').focus()
  await page.keyboard.type(SCRIPT)
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  assert.deepEqual(await ergon.sql('select id from incidents where summary = $1', [SCRIPT]), [])
  await tabTo(page, 'Publish')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: SCRIPT }).waitFor()
  assert.notEqual(await page.title(), 'run')
  await ergon.sql('update incidents set ended_at = ledger_now() where summary = $1', [SCRIPT])

  await using other = await newPerson(browser, portal)
  await signUp(other, { name: 'stranger' })
  await other.page.goto(`${portal}/operator`)
  await other.page.getByText('You may not see this.').waitFor()
  assert.equal(await other.page.getByRole('link', { name: 'Operator' }).count(), 0)
})
