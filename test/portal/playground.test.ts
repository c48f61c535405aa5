// An answer of a model in the browser: what is shown of it is what the ledger bills.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { MODELS } from '../settings.ts'
import { done, newPerson, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'

product(MODELS)

describe('answers of models in the browser', { skip: withoutBrowser }, () => {
  const browser = consoleOfFile()
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('a stopped answer shows the joules that are billed', async () => {
    await using ada = await newPerson(browser(), portal(), QUIET_PAGE)
    const { page } = ada
    await signUp(ada, { name: 'stops' })
    await page.goto(`${portal()}/playground`)
    await page.getByLabel('Longest answer').selectOption('4096')
    await page.getByLabel('Temperature').selectOption('1.3')
    await page.getByLabel('Message').fill('Write a very long story about a river.')
    await page.keyboard.press('Enter')
    // Joules and words are there.
    await page.locator('.meter .register .digits .unit').waitFor()
    await page.locator('.turn .words', { hasText: /\S+\s+\S+/ }).waitFor()
    await page.keyboard.press('Escape')
    const receipt = page.getByRole('link', { name: 'receipt' })
    await page.locator('.cost .figure').waitFor()
    const id = String(await receipt.getAttribute('href')).replace('/ledger/', '')
    const { data } = done(await ada.ask('GET', `/v1/ledger?id=${id}`), 200) as {
      data: { energy_nj: string }[]
    }
    const shown = await page.locator('.cost .figure').getAttribute('data-copy')
    assert.equal(BigInt((shown ?? '').replaceAll(/\D/g, '')), BigInt(data[0]?.energy_nj ?? 0))
    assert.match((await page.locator('.meter .so-far').textContent()) ?? '', /stopped/)
  })
})
