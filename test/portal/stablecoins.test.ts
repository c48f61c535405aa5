// A top-up by stablecoin at the portal: where to pay, the text to sign, the claim, on a test chain.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import {
  CONFIRMATIONS,
  look,
  newWallet,
  STABLECOINS,
  testCoins,
} from '../payments/chain/stablecoins.ts'
import { product, sharedErgon } from '../product.ts'
import { newPerson, openBrowser, withoutBrowser } from './browser.ts'
import { buildConsole } from './console-build.ts'
import { checkPage, loadAxe, watch } from './walk.ts'

product(STABLECOINS)

const USD = 1_000_000n
const LOOKS_MAX = 20

describe('stablecoins in a browser', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
  })
  after(() => browser.close())

  test('a transfer is shown, sent, claimed, and is balance', async () => {
    const portal = String(sharedErgon().ready['portal_url'])
    const { chain } = testCoins()
    await using ada = await newPerson(browser, portal)
    const { page } = ada
    const watched = watch(page)
    await page.locator('#name').fill('pays by stablecoin')
    await page.getByRole('button', { name: 'Create a passkey', disabled: false }).click()
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByRole('heading', { name: 'Put $5 on file' }).waitFor()
    assert.ok(await page.getByLabel('Stablecoin').isChecked(), 'a sign-up offers the same')
    await page.getByRole('button', { name: 'Show where to pay' }).waitFor()
    await page.getByRole('button', { name: 'Stay on' }).click()
    await page.getByRole('heading', { name: 'Your first token' }).waitFor()
    await page.goto(`${portal}/balance`)
    await loadAxe(page)
    // There is no processor of cards: the first way that works is chosen.
    assert.equal(await page.getByRole('radio', { name: 'Card' }).count(), 0)
    assert.ok(await page.getByLabel('Stablecoin').isChecked())
    await page.getByLabel('tUSD').fill('7.00')
    await page.getByRole('button', { name: 'Show where to pay' }).click()
    await page.getByText(new RegExp(chain.receiver, 'i')).waitFor()
    await page.getByText(/^Send 7000000 units of the token 0x/).waitFor()
    const { from } = await newWallet(sharedErgon())
    const transaction = await chain.send(from, 'transfer', [chain.receiver, 7n * USD])
    await page.getByLabel('Transaction').fill(transaction)
    const text = await page.locator('pre', { hasText: 'tops up account' }).textContent()
    await checkPage(page, 'a transfer to claim')
    const signature = await chain.account(from).signMessage({ message: text ?? '' })
    await page.getByLabel('Signature').fill(signature)
    await page.getByRole('button', { name: 'Claim the transfer' }).click()
    await page.getByText('The transfer is claimed').waitFor()
    await chain.mine(CONFIRMATIONS)
    // A poll of the service's own that is under way did not see the last blocks.
    let balance = '0'
    for (let looks = 0; balance === '0' && looks < LOOKS_MAX; looks++) {
      await look(sharedErgon())
      balance = String((await ada.ask('GET', '/v1/balance')).body['balance_pusd'])
    }
    assert.match(balance, /^6999\d{9}$|^7000000000000$/)
    assert.deepEqual(watched(), [])
  })
})
