// Pictures of the console's pages for the guide, of an account that has used each product. ERGON_PICTURES=1 writes them to
// docs/pictures.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { CHAT, MODELS } from '../settings.ts'
import { writeServerImage } from '../workloads/image.ts'
import { done, newPerson, openBrowser, signUp, withoutBrowser, type Person } from './browser.ts'
import { buildConsole } from './console-build.ts'

const FOLDER = 'docs/pictures'
const isAsked = process.env['ERGON_PICTURES'] === '1'
const skip = withoutBrowser || (isAsked ? false : 'ERGON_PICTURES=1 writes them')
/** A guide with larger files is slow to load. */
const BYTES_MAX = 250_000
const SETTLED_MS = 2500
/** A model that is not there yet is asked a minute later. */
const PROBED_MS_MAX = 150_000

/** Name of the picture → its page. */
const PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  playground: '/playground',
  models: '/models',
  workloads: '/workloads/api',
  functions: '/functions/hello',
  databases: '/databases/notes',
  storage: '/storage/photographs/',
  usage: '/usage',
  budgets: '/budgets',
  balance: '/balance',
  tokens: '/tokens',
  webhooks: '/webhooks',
  events: '/events',
  members: '/members',
  audit: '/audit',
  evidence: '/evidence',
  settings: '/settings',
}

/** Acts in a page before its picture is taken. */
const ACTS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  playground: async (page) => {
    await page.getByLabel('Longest answer').selectOption('64')
    await page.getByLabel('Message').fill('What is the capital of France?')
    await page.keyboard.press('Enter')
    await page.locator('.cost .figure').waitFor()
  },
  databases: async (page) => {
    await page.getByLabel('SQL').fill('select version()')
    // The button waits until the database is made.
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('of its server while it ran').waitFor()
  },
}

const images = skip === false ? mkdtempSync(join(tmpdir(), 'images-')) : ''
// The landing page shows the last probe.
if (skip === false) product(MODELS, { ERGON_PROBE_SECONDS: '60', ERGON_IMAGE_FOLDER: images })
let browser: Browser
before(async () => {
  if (skip !== false) return
  // Cells have uids of their own.
  chmodSync(images, 0o755)
  writeServerImage(join(images, 'server'))
  await buildConsole()
  browser = await openBrowser()
})
after(async () => {
  await browser?.close()
  if (images !== '') rmSync(images, { recursive: true })
})

test('pictures of the console', { skip }, async () => {
  mkdirSync(FOLDER, { recursive: true })
  const portal = String(sharedErgon().ready['portal_url'])
  await using ada = await newPerson(browser, portal)
  const { page } = ada
  await page.setViewportSize({ width: 1280, height: 800 })
  await untilProbed(page)
  await page.reload()
  await page.locator('#asked b').waitFor()
  await page.waitForTimeout(SETTLED_MS)
  await shoot(page, 'landing')
  await signUp(ada, { name: 'my-team' })
  const { receipt, deployment } = await useEachProduct(ada)
  const pages = { ...PAGES, deployments: `/deployments/${deployment}` }
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(portal + path)
    await ACTS[name]?.(page)
    await page.waitForTimeout(SETTLED_MS)
    await shoot(page, name)
  }
  await page.goto(`${portal}/ledger/${receipt}`)
  await page.getByText('Nothing hidden').waitFor()
  await shoot(page, 'ledger')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shoot(page, 'ledger-dark')
  await page.goto(portal)
  await page.waitForTimeout(SETTLED_MS)
  await shoot(page, 'overview-dark')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.waitForTimeout(SETTLED_MS)
  await shoot(page, 'overview-phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(String(sharedErgon().ready['status_url']))
  await shoot(page, 'status')
  await shootOperator(portal)
})

/** The operator's console, by an owner of the first account. */
async function shootOperator(portal: string): Promise<void> {
  const { account, control } = sharedErgon()
  await using owner = await newPerson(browser, portal)
  const { url } = await control('member.recover', { target: account })
  await signUp(owner, { invitation: url.split('#')[1] ?? '' })
  await owner.page.setViewportSize({ width: 1280, height: 800 })
  await owner.page.goto(`${portal}/operator`)
  await owner.page.locator('main .facts').first().waitFor()
  await owner.page.waitForTimeout(SETTLED_MS)
  await shoot(owner.page, 'operator')
}

/** The installation has asked its model. */
async function untilProbed(page: Page): Promise<void> {
  const endMs = performance.now() + PROBED_MS_MAX
  for (;;) {
    const last = await page.evaluate(
      `fetch('/v1/probe').then((a) => a.json()).then(({ components }) => components[1].last)`,
    )
    if (last !== null) return
    assert.ok(performance.now() < endMs, 'the installation does not ask its model')
    await page.waitForTimeout(SETTLED_MS)
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  assert.ok(statSync(path).size < BYTES_MAX, `${path} has ${statSync(path).size} bytes`)
}

const description = () => `workload "api" {
  image         = "oci:${images}/server:v1"
  energy_budget = "250 kJ/day"
  env           = { VERSION = "one" }
}
route "api.example.com" {
  to = workload.api
}
output "address" {
  value = workload.api.url
}`

/** So that no page is empty; the receipt of a request to a model, and the id of a deployment. */
async function useEachProduct(ada: Person) {
  await sharedErgon().waitForModel(CHAT)
  const made = async (path: string, body: object, status = 201) =>
    done(await ada.ask('POST', path, body), status)
  await made('/v1/tokens', { name: 'website', scope: 'read', energy_budget: '5 kJ/day' })
  await made('/v1/databases', { name: 'notes', size: '1GB' }, 201)
  const source = "export default { fetch() { console.log('asked'); return new Response('hello') } }"
  await made('/v1/functions', {
    name: 'hello',
    file: 'hello.js',
    source,
    energy_budget: '10 kJ/day',
  })
  const { id: deployment } = await made('/v1/deployments', {
    stack: 'shop',
    description: description(),
  })
  await made('/v1/webhooks', { url: 'https://example.com/ergon', events: ['balance.low'] })
  await made('/v1/members', { name: 'Grace', role: 'developer' })
  await ada.page.evaluate(`(async () => {
    await fetch('/s3/photographs', { method: 'PUT' })
    for (const [name, bytes] of [['harbour.txt', 2100], ['2026/lighthouse.txt', 900], ['notes.txt', 340]])
      await fetch('/s3/photographs/' + name, { method: 'PUT', body: 'a '.repeat(bytes) })
  })()`)
  let receipt = ''
  for (const text of ['What is the capital of France?', 'Name three rivers of Europe.']) {
    const messages = [{ role: 'user', content: text }]
    const asked = { model: CHAT, messages, max_tokens: 24 }
    const answer = await ada.ask('POST', '/v1/chat/completions', asked)
    done(answer, 200)
    receipt = answer.headers['x-receipt-id'] ?? ''
  }
  return { receipt, deployment: String(deployment) }
}
