// Money on a product without a processor of cards: the pages say the command that gives it, and see the money come.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newPerson, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'

product(PLAIN)

describe('money without cards', { skip: withoutBrowser }, () => {
  const browser = consoleOfFile()
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('it comes by a code or a command, and no card is offered', async () => {
    await using ada = await newPerson(browser(), portal(), QUIET_PAGE)
    const { account_id: account } = await signUp(ada, { name: 'without cards' })
    await ada.page.goto(`${portal()}/balance`)
    await ada.page.getByRole('button', { name: 'Redeem' }).waitFor()
    await ada.page.getByText(`ergon admin funds add ${account} 5`).waitFor()
    await ada.page.getByText('src/cli/ergon.mjs').waitFor()
    assert.equal(await ada.page.getByText('Card', { exact: true }).count(), 0)
  })

  test('a sign-up says the command, and goes on by itself once the money is there', async () => {
    await using ada = await newPerson(browser(), portal())
    const { page } = ada
    await page.locator('#name').fill('new here')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.getByRole('button', { name: 'I have kept them', disabled: false }).click()
    const command = page.getByText('ergon admin funds add acct_')
    await command.waitFor()
    assert.equal(await page.getByText('It is held, not taken').count(), 0)
    const account = /acct_\w+/.exec((await command.textContent()) ?? '')?.[0] ?? ''
    await sharedErgon().control('funds.add', { account, pusd: '5000000000000' })
    await page.getByRole('heading', { name: 'Funds are on file' }).waitFor()
  })
})
