// The console offers what works from here: commands with the login of this service, budgets of what there is, packs of the
// time of the account, and the way to the status page.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { done, newPerson, openBrowser, signUp, withoutBrowser, type Person } from './browser.ts'
import { buildConsole } from './console-build.ts'

product(PLAIN)

describe('offers of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let ada: Person
  let page: Page
  const portal = () => String(sharedErgon().ready['portal_url'])
  const statusUrl = () => String(sharedErgon().ready['status_url'])
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    ada = await newPerson(browser, portal())
    page = ada.page
  })
  after(() => browser?.close())

  test('the first page, the board and a failed read lead to the status page', async () => {
    const hrefOf = (within: string, name: string) =>
      page.locator(`${within} a`, { hasText: name }).getAttribute('href')
    assert.equal(await hrefOf('nav', 'Status'), statusUrl())
    await signUp(ada, { name: 'offers' })
    await page.route('**/v1/storage/buckets**', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '0' }, body: '{}' }),
    )
    await page.goto(`${portal()}/storage`)
    await page.getByText('The list of buckets does not answer').waitFor()
    assert.equal(await hrefOf('main', 'Status page'), statusUrl())
    assert.equal(await hrefOf('.board', 'Status page'), statusUrl())
    await page.unroute('**/v1/storage/buckets**')
  })

  test('a command on a page says how a new terminal logs in here', async () => {
    const { baseUrl } = sharedErgon()
    for (const path of ['/storage', '/functions', '/deployments']) {
      await page.goto(portal() + path)
      await page.getByText(`ergon login --base-url ${baseUrl}`).waitFor()
    }
    await page.goto(`${portal()}/tokens`)
    await page.getByText(`ergon login --base-url ${baseUrl} --scope billing-admin`).waitFor()
  })

  test('the approval of a login has deploy chosen at most, and says where the command line asks for more', async () => {
    const more = page.getByText('The command line asks for billing-admin: choose that yourself')
    const redirect = { redirect_port: 54_321, state: 'a'.repeat(16) }
    for (const [scope, chosen, flow] of [
      ['billing-admin', 'deploy', redirect],
      ['billing-admin', 'deploy', {}],
      ['read', 'read', {}],
      [undefined, 'deploy', redirect],
    ] as const) {
      const answer = await fetch(`${sharedErgon().baseUrl}/v1/logins`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'laptop',
          code_challenge: 'a'.repeat(43),
          scope,
          ...flow,
        }),
      })
      const begun = (await answer.json()) as {
        readonly approve_url: string
        readonly user_code: string
      }
      await page.goto(begun.approve_url)
      if (flow !== redirect) {
        await page.getByLabel('The code that the command line shows').fill(begun.user_code)
        await page.keyboard.press('Enter')
      }
      await page.locator('label:has(input:checked)', { hasText: chosen }).waitFor()
      assert.equal(await more.count(), scope === 'billing-admin' ? 1 : 0)
    }
  })

  test('a budget is offered of what there is, and where to make something', async () => {
    await page.goto(`${portal()}/budgets`)
    await page.getByRole('button', { name: 'Set a budget' }).click()
    await page.getByText('There is nothing to limit yet').waitFor()
    await page.getByRole('link', { name: 'make a token' }).click()
    await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
    done(await ada.ask('POST', '/v1/tokens', { name: 'website', scope: 'read' }), 201)
    await page.goto(`${portal()}/budgets`)
    await page.getByRole('button', { name: 'Set a budget' }).click()
    await page.getByLabel('Of', { exact: true }).waitFor()
    const offered = await page.getByLabel('Of', { exact: true }).locator('option').allTextContents()
    assert.match(offered.join('\n'), /^website, a token \(svc_\w+…\)$/)
  })

  test('a pack is offered for no time before the account', async () => {
    const { created_at: madeAt } = done(await ada.ask('GET', '/v1/account'), 200)
    const made = String(madeAt).slice(0, 10)
    await page.goto(`${portal()}/evidence`)
    await page.getByText(`--from ${made}`).waitFor()
    await page.getByRole('button', { name: 'Make a pack' }).click()
    const from = page.getByLabel('From the day, UTC')
    assert.deepEqual([await from.inputValue(), await from.getAttribute('min')], [made, made])
  })
})
