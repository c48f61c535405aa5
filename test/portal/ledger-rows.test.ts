// New rows of the ledger wait while the list is scrolled, behind their number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newPerson, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'

/** More than a window has. */
const ROWS = 60
const SCROLLED_PX = 900
const SETTLED_MS = 500

product(PLAIN)
const browser = consoleOfFile()

test('rows that come do not move those that are read', { skip: withoutBrowser }, async () => {
  const portal = String(sharedErgon().ready['portal_url'])
  await using ada = await newPerson(browser(), portal, QUIET_PAGE)
  const { page } = ada
  const { account_id: account } = await signUp(ada, { name: 'reading' })
  await sharedErgon().control('funds.add', { account, pusd: '4999999999999' })
  for (let nth = 0; nth < ROWS; nth++) await ada.ask('GET', '/v1/tokens')
  await page.goto(`${portal}/ledger`)
  await page.locator('[data-row]').nth(20).waitFor()
  await page.evaluate(`scrollTo(0, ${SCROLLED_PX})`)
  const middle = () =>
    page.evaluate(`document.elementFromPoint(400, 400)?.closest('tr')?.querySelector('a')?.href`)
  // The rows that come into view are drawn after the scroll.
  await page.waitForTimeout(SETTLED_MS)
  const read = await middle()
  assert.ok(read !== undefined)
  await ada.ask('GET', '/v1/tokens')
  const waiting = page.getByRole('button', { name: /^[1-9]\d* new$/ })
  await waiting.waitFor()
  assert.equal(await middle(), read)
  const newest = () => page.locator('[data-row] a').first().getAttribute('href')
  await waiting.click()
  await waiting.waitFor({ state: 'detached' })
  const first = await newest()
  await ada.ask('GET', '/v1/tokens')
  await page
    .locator(`tbody > [data-row]:first-child a:not([href=${JSON.stringify(first)}])`)
    .waitFor()
})
