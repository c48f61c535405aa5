// An account in a browser: test money is held by a card, a token is rotated, and the browser offers the passkey by itself.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { CARDS, processor, processorAnswers, until } from '../payments/processor.ts'
import { done, newPerson, openBrowser, withoutBrowser } from './browser.ts'
import { buildConsole } from './console-build.ts'
import { checkPage, loadAxe, signUpByPages, watch } from './walk.ts'

product(CARDS)

describe('an account in a browser', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => {
    await buildConsole()
    await processorAnswers(sharedErgon())
    browser = await openBrowser()
  })
  after(() => browser.close())
  const portal = () => String(sharedErgon().ready['portal_url'])
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true, disabled: false }).click()

  test('five dollars are held by a card at the sign-up, and topped up afterwards', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    const watched = watch(page)
    await page.locator('#name').fill('pays by card')
    await press(page, 'Create a passkey')
    await press(page, 'I have kept them')
    await page.getByRole('heading', { name: 'Put $5 on file' }).waitFor()
    await press(page, 'Put on file')
    await page.getByRole('heading', { name: 'Your first token' }).waitFor()
    // The page that refusals with 402 name.
    await page.goto(String((await ada.ask('GET', '/v1/balance')).body['top_up_url']))
    await page.locator('tr', { hasText: 'Hold' }).locator('.state', { hasText: 'held' }).waitFor()
    const balance = async () => String((await ada.ask('GET', '/v1/balance')).body['balance_pusd'])
    // Less than five dollars once the requests of the pages are posted.
    await until(async () => /^4999\d{9}$/.test(await balance()))
    await page.getByLabel('tUSD').fill('20.00')
    await press(page, 'Top up')
    await page.locator('tr', { hasText: 'Top-up' }).locator('.state', { hasText: 'paid' }).waitFor()
    await loadAxe(page)
    await page.locator('tr', { hasText: 'Top-up' }).waitFor()
    await checkPage(page, 'a balance with payments')
    await page.setViewportSize({ width: 1280, height: 800 })
    const paid = page.locator('tr', { hasText: 'Top-up' })
    await paid.getByRole('button', { name: 'Refund' }).click()
    await page.getByRole('dialog').getByLabel('tUSD').fill('7.50')
    await press(page, 'Give it back')
    await page.getByText(/^7\.50.tUSD left the balance/).waitFor()
    await press(page, 'Close')
    await until(async () => {
      const { body } = await ada.ask('GET', '/v1/topups')
      return (body['data'] as { refunded_pusd: string }[]).some(
        ({ refunded_pusd: refunded }) => refunded === '7500000000000',
      )
    })
    await page.reload()
    await paid.getByText(/^7\.50.tUSD given back$/).waitFor()
    assert.match(String((await ada.ask('GET', '/v1/balance')).body['balance_pusd']), /^1749\d{10}$/)
    assert.deepEqual(watched(), [])
  })

  test('a card is given on the page of the processor, which leads back to the balance', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'gives a card')
    // Accounts of live money have no test card; here the page alone takes this one for live.
    const { body } = await ada.ask('GET', '/v1/balance')
    await page.route('**/v1/balance', (route) => route.fulfill({ json: { ...body, unit: 'USD' } }))
    await page.goto(`${portal()}/balance`)
    await press(page, 'Add a card')
    await page.getByLabel('Card number').fill('4242 4242 4242 4242')
    await press(page, 'Save the card')
    await page.getByRole('heading', { name: 'Balance' }).waitFor()
    assert.equal(new URL(page.url()).origin, portal())
    await page.getByLabel('Dollars').fill('20.00')
    await press(page, 'Top up')
    await page.locator('tr', { hasText: 'Top-up' }).locator('.state', { hasText: 'paid' }).waitFor()
  })

  test('cards are listed, and removed; one that was never given too', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'removes cards')
    done(await ada.ask('POST', '/v1/payment-methods', { type: 'card' }), 201)
    await page.goto(`${portal()}/balance`)
    await press(page, 'Add a test card')
    const [given, open] = [
      page.locator('tr', { hasText: 'visa ending in 4242' }),
      page.locator('tr', { hasText: 'A card not given yet' }),
    ]
    await given.locator('.state', { hasText: 'pays' }).waitFor()
    await loadAxe(page)
    await open.locator('.state', { hasText: 'waits for you' }).waitFor()
    await checkPage(page, 'the list of cards')
    await page.setViewportSize({ width: 1280, height: 800 })
    for (const card of [open, given]) {
      await card.getByRole('button', { name: 'Remove' }).click()
      await press(page, 'Remove it')
      await card.waitFor({ state: 'detached' })
    }
    const { body } = await ada.ask('GET', '/v1/payment-methods')
    assert.deepEqual(body['data'], [])
  })

  test('the rule of automatic top-ups is set, refused where no month has room, and ended', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'tops up by itself')
    await page.goto(`${portal()}/balance`)
    await press(page, 'Add a test card')
    await page.getByLabel('tUSD').fill('1.00')
    await press(page, 'Top up')
    await page.locator('tr', { hasText: 'Top-up' }).locator('.state', { hasText: 'paid' }).waitFor()
    await loadAxe(page)
    await press(page, 'Top up automatically')
    await page.getByLabel('At most in a month').fill('10.00')
    await checkPage(page, 'a rule of automatic top-ups')
    await page.setViewportSize({ width: 1280, height: 800 })
    await press(page, 'Save the rule')
    await page.getByText('must be amount or more').first().waitFor()
    await page.getByLabel('At most in a month').fill('60.00')
    await press(page, 'Save the rule')
    const rule = page.getByText(
      /^20\.00.tUSD from the newest card when the balance is below 5\.00.tUSD/,
    )
    await rule.waitFor()
    await until(async () => {
      const { body } = await ada.ask('GET', '/v1/topups')
      return (body['data'] as { kind: string }[]).some(({ kind }) => kind === 'automatic')
    })
    await page.reload()
    await page.locator('tr', { hasText: 'Automatic top-up' }).waitFor()
    await press(page, 'Stop')
    await press(page, 'Stop them')
    await press(page, 'Top up automatically')
    const { body } = await ada.ask('GET', '/v1/account')
    assert.equal(body['auto_topup'], null)
  })

  test('a payment that waits for the bank is canceled, and nothing is taken', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'cancels')
    await page.getByText(`curl -i http://localhost:${sharedErgon().port}/v1/`).waitFor()
    const card = { type: 'card', token: 'pm_card_authenticationRequired' }
    const added = done(await ada.ask('POST', '/v1/payment-methods', card), 201)
    await processor(sharedErgon(), 'GET', (added['action'] as { url: string }).url)
    // The processor tells of the card a moment later.
    await until(
      async () => (await ada.ask('POST', '/v1/topups', { amount: '7.00' })).status === 201,
    )
    await page.goto(`${portal()}/balance`)
    const waiting = page.locator('tr', { hasText: 'Top-up' })
    await waiting.locator('.state', { hasText: 'waits for you' }).waitFor()
    await waiting.getByRole('button', { name: 'Cancel' }).click()
    await press(page, 'Cancel it')
    await waiting.locator('.state', { hasText: 'canceled' }).waitFor()
    assert.equal(await waiting.getByRole('button').count(), 0)
  })

  test('a token is rotated: the new secret works, the old one ends at once', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'rotates')
    await page.goto(`${portal()}/tokens`)
    const row = page.locator('tr', { hasText: 'of a test' })
    await press(page, 'New token')
    await page.getByLabel('What is it for?').fill('of a test')
    await press(page, 'Make the token')
    const old = await secretOf(page)
    assert.equal(await statusOf(old), 200)
    await row.getByRole('button', { name: 'Rotate' }).click()
    await page.getByLabel('The old one ends at once').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const next = await secretOf(page)
    assert.deepEqual([await statusOf(next), await statusOf(old)], [200, 401])
    await row.getByRole('button', { name: 'Revoke' }).first().click()
    await press(page, 'Revoke it')
    await row.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' })
    assert.equal(await statusOf(next), 401)
  })

  test('tokens with budgets fit on a phone', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'has budgets')
    const limits = { scope: 'read', energy_budget: '123456.123456789 MJ/day' }
    const made = await ada.ask('POST', '/v1/tokens', { name: 'of a test', ...limits })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${portal()}/tokens`)
    await page
      .locator('tr', { hasText: 'of a test' })
      .getByText('0 J of 123456.123456789 MJ')
      .waitFor()
    const room = 'innerWidth - document.documentElement.scrollWidth'
    assert.equal(await page.evaluate(room), 0)
  })

  test('the browser offers the passkey in the field of the name, and no button is pressed', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada, 'comes back')
    await ada.context.clearCookies()
    const asked = page.waitForRequest((request) => request.url().endsWith('/v1/sign-in/options'))
    await page.goto(portal())
    await asked
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.equal((await ada.ask('GET', '/v1/session')).body['account_name'], 'comes back')
  })
})

/** Reads the secret that is shown once, and closes its dialog. */
async function secretOf(page: Page): Promise<string> {
  const secret = await page.locator('dialog pre').textContent()
  assert.match(secret ?? '', /^svc_/)
  await page.getByRole('button', { name: 'I have it' }).click()
  return secret ?? ''
}

const statusOf = async (token: string): Promise<number> =>
  (
    await fetch(`${sharedErgon().baseUrl}/v1/account`, {
      headers: { authorization: `Bearer ${token}` },
    })
  ).status
