// An answer of a model in the browser: what is shown of it is what the ledger bills.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { CHAT, MODELS } from '../settings.ts'
import { done, newPerson, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'
import { signUpByPages } from './walk.ts'

product(MODELS)

describe('answers of models in the browser', { skip: withoutBrowser }, () => {
  const browser = consoleOfFile()
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('a stopped answer shows the joules that are billed', async () => {
    await sharedErgon().waitForModel(CHAT)
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

  test('a model that is loading is asked again by itself', async () => {
    await using ada = await newPerson(browser(), portal())
    const { page } = ada
    await signUpByPages(ada)
    const loading = {
      status: 503,
      headers: { 'retry-after': '1' },
      contentType: 'application/problem+json',
      body: JSON.stringify({ detail: 'Loading', error: { code: 'model_loading' } }),
    }
    await page.route('**/v1/chat/completions', (route) => route.fulfill(loading), { times: 2 })
    await page.getByRole('button', { name: 'Ask from here' }).click()
    await page.getByText('The model is loading').waitFor()
    await page.getByRole('link', { name: 'See its receipt' }).waitFor()
  })

  test('a refused request ends no sign-up; an answer elsewhere does', async () => {
    await using ada = await newPerson(browser(), portal())
    const { page, ask } = ada
    await signUpByPages(ada)
    await sharedErgon().waitForModel(CHAT)
    const messages = [{ role: 'user', content: 'Hello' }]
    const body = { messages, max_tokens: 4 }
    await page.evaluate(TOLD)
    const refused = await ask('POST', '/v1/chat/completions', { ...body, model: 'none' })
    assert.ok(refused.status >= 400)
    await page.evaluate(`told('${refused.headers['x-receipt-id']}')`)
    const answered = await ask('POST', '/v1/chat/completions', { ...body, model: CHAT })
    assert.equal(answered.status, 200)
    const link = page.getByRole('link', { name: 'See its receipt' })
    const id = answered.headers['x-receipt-id']
    assert.equal(await link.getAttribute('href'), `/ledger/${id}`)
    const { method, band_pct: band } = (
      done(await ask('GET', `/v1/ledger?id=${id}`), 200) as {
        data: { method: string; band_pct: string }[]
      }
    ).data[0] ?? { method: '', band_pct: '' }
    assert.equal(method, 'model')
    const spoken = await page.locator('.register .spoken').textContent()
    assert.match(spoken ?? '', new RegExp(`modelled, plus or minus ${band} percent`))
  })
})

/** A live stream of its own, which is open: `told` resolves once it has told of a charge. */
const TOLD = `{
  const ids = new Set()
  const waiting = new Map()
  const source = new EventSource('/v1/live')
  source.addEventListener('message', ({ data }) => {
    for (const { id } of JSON.parse(data).charges ?? []) {
      ids.add(id)
      waiting.get(id)?.()
    }
  })
  window.told = (id) => new Promise((resolve) => {
    if (ids.has(id)) resolve()
    else waiting.set(id, resolve)
  })
  new Promise((resolve) => source.addEventListener('open', resolve))
}`
