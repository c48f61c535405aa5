// Text that others choose is text on every page: names of tokens, passkeys and programs, questions, and answers of models.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { done, newPerson, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'
import { watch } from './walk.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
/** The pages that show the names. */
const PAGES = ['/', '/tokens', '/settings', '/budgets', '/audit', '/members', '/more']
/** An answer of a model as the API streams it. */
const ANSWER = [
  { model: HOSTILE, choices: [{ delta: { content: HOSTILE } }] },
  { choices: [], usage: { energy_j: 0.5, carbon_mg: 0.1, completion_tokens: 9 } },
]

product(PLAIN)
const browser = consoleOfFile()

test('names, questions and answers are never run', { skip: withoutBrowser }, async () => {
  const portal = String(sharedErgon().ready['portal_url'])
  await using eve = await newPerson(browser(), portal, QUIET_PAGE)
  const { page, ask } = eve
  const watched = watch(page)
  await signUp(eve, { name: HOSTILE })
  const token = { name: HOSTILE, scope: 'read', energy_budget: '5 kJ/day' }
  done(await ask('POST', '/v1/tokens', token), 201)
  const { data } = done(await ask('GET', '/v1/passkeys'), 200) as { data: { id: string }[] }
  done(await ask('PATCH', `/v1/passkeys/${data[0]?.id}`, { name: HOSTILE }), 200)
  const code_challenge = hash('sha256', 'v'.repeat(43), 'base64url')
  const login = done(await ask('POST', '/v1/logins', { name: HOSTILE, code_challenge }), 201)
  for (const path of PAGES) {
    await page.goto(portal + path)
    await page.getByText(HOSTILE).first().waitFor()
    await isInert(page, path)
  }
  await page.goto(`${portal}/login/approve`)
  await page.getByLabel('The code that the command line shows').fill(String(login['user_code']))
  await page.keyboard.press('Enter')
  await page.locator('main').getByText(HOSTILE).first().waitFor()
  await isInert(page, 'the approval of a login')
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: [...ANSWER.map((chunk) => JSON.stringify(chunk)), '[DONE]']
        .map((line) => `data: ${line}\n\n`)
        .join(''),
    }),
  )
  await page.goto(`${portal}/playground`)
  await page.getByPlaceholder('Ask something').fill(HOSTILE)
  await page.keyboard.press('Enter')
  await page.getByText(HOSTILE).nth(1).waitFor()
  await isInert(page, 'the playground')
  assert.deepEqual(watched(), [])
})

test('a name that is run is seen', { skip: withoutBrowser }, async () => {
  const portal = String(sharedErgon().ready['portal_url'])
  await using eve = await newPerson(browser(), portal)
  await eve.page.evaluate(
    `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(HOSTILE)})`,
  )
  await assert.rejects(isInert(eve.page, 'planted'), /planted/)
})

async function isInert(page: Page, where: string): Promise<void> {
  assert.equal(await page.locator('img').count(), 0, where)
  assert.notEqual(await page.title(), '1', where)
}
