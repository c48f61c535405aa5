// The console in a browser: the whole way from a passkey to a verified receipt, by keyboard alone too. No page has a
// fault of accessibility, a request to another host or a breach of its policy. The first pages stay within their bytes.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { receiptKeysJson } from '#tlog/keys.ts'
import { keyPair, makeShard, type Made } from '#tlog/shard.fixture.ts'
import { parseTilePath } from '#tlog/tiles.ts'
import { product, sharedErgon } from '../product.ts'
import { MODELS } from '../settings.ts'
import { newPerson, openBrowser, QUIET_PAGE, signUp, withoutBrowser } from './browser.ts'
import { buildConsole, chunkOf, pageText, scriptsOf, sizeOf, stylesOf } from './console-build.ts'
import { leastShifts, SHIFT_MAX, WATCH_SHIFTS } from './shifts.ts'
import { checkPage, loadAxe, pressButton, signUpByPages, STEPS, watch } from './walk.ts'

const KB = 1000
/** The most bytes that a first load may take. */
const BUDGETS = { console: 150 * KB, landing: 20 * KB, landingScript: 15 * KB }

/** Reads that follow the first message of the stream. */
const SETTLED_MS = 1500

product(MODELS)

before(buildConsole)

test('the first pages stay within their bytes', () => {
  const console = [...scriptsOf('index.html'), ...chunkOf('src/pages/overview/page.tsx')]
  assert.ok(sizeOf(console) <= BUDGETS.console, `console: ${sizeOf(console)}`)
  const landing = ['landing.html', ...stylesOf('landing.html')]
  assert.ok(sizeOf(landing) <= BUDGETS.landing, `landing: ${sizeOf(landing)}`)
  const script = scriptsOf('landing.html')
  assert.ok(sizeOf(script) <= BUDGETS.landingScript, `landing script: ${sizeOf(script)}`)
  // Each page in the first chunk would break the budget: the sizes are those of real files.
  const all = ['ledger', 'playground', 'tokens', 'balance'].map(
    (name) => `src/pages/${name}/page.tsx`,
  )
  assert.ok(sizeOf([...console, ...all.flatMap(chunkOf)]) > sizeOf(console) + 10 * KB)
})

test('no page of the build has anything inline', () => {
  for (const page of ['index.html', 'landing.html']) {
    assert.doesNotMatch(pageText(page), /<style|\sstyle=|<script>|javascript:|\son\w+=/i)
  }
})

describe('the console in a browser', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => (browser = await openBrowser()))
  after(() => browser.close())
  const portal = () => String(sharedErgon().ready['portal_url'])

  test('sign-up, funds, token, first request, and its receipt verified in the browser', async () => {
    await using ada = await newPerson(browser, portal())
    const watched = watch(ada.page)
    await signUpByPages(ada)
    await ada.page.getByRole('button', { name: 'Ask from here' }).click()
    const receipt = ada.page.getByRole('link', { name: 'See its receipt' })
    await receipt.waitFor()
    const told = await figureOf(ada.page)
    await receipt.click()
    await ada.page.getByText('Nothing hidden').waitFor()
    assert.equal(await figureOf(ada.page), told)
    assert.deepEqual(await ada.page.locator('.checks li.holds b').allTextContents(), [
      'Signed',
      'In the log',
      'Adds up',
      'Nothing hidden',
    ])
    assert.deepEqual(watched(), [])
  })

  test('the main path by keyboard alone', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await page.keyboard.press('Tab')
    await page.locator('#name').focus()
    await page.keyboard.type('by keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keep these ten codes' }).waitFor()
    for (const name of [...STEPS, 'I have it', 'Later']) await pressButton(page, name)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByRole('heading', { name: 'Ledger' }).waitFor()
    await page.locator('[data-row]').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing hidden').waitFor()
    const receipt = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('tok')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tokens' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(receipt.replace('rcpt_', 'req_'))
    await page.keyboard.press('Enter')
    await page.getByText('Nothing hidden').waitFor()
    assert.match(page.url(), new RegExp(`/ledger/${receipt}$`))
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/ledger$/)
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await page
      .locator('.usage-total')
      .getByText(/(modelled|measured|declared), ±\d+.%/)
      .waitFor()
  })

  test('a receipt that was changed on its way is not trusted', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    const balance = await ada.ask('GET', '/v1/balance')
    const receipt = balance.headers['x-receipt-id'] ?? ''
    await ada.page.goto(`${portal()}/ledger/${receipt}`)
    await ada.page.getByText('Nothing hidden').waitFor()
    const text = String(
      await ada.page.evaluate(
        `fetch('/v1/receipts/${receipt}', { headers: { accept: 'text/plain' } }).then((answer) => answer.text())`,
      ),
    )
    const body = text.replace('\nindex ', '\nindex 1')
    await ada.page.route(`**/v1/receipts/${receipt}`, (route) =>
      route.fulfill({ contentType: 'text/plain', body }),
    )
    await ada.page.goto(`${portal()}/ledger/${receipt}`)
    await ada.page.getByText('Do not trust this receipt').waitFor()
    assert.equal(await ada.page.locator('.checks li.fails').count(), 1)
    assert.equal(await ada.page.locator('.receipt .seal').count(), 0)
    await ada.page.unrouteAll()
    const list = (await ada.ask('GET', `/v1/ledger?id=${receipt}`)).body
    const [row] = list['data'] as { leaf_hash: string }[]
    assert.match(row?.leaf_hash ?? '', /^[0-9a-f]{64}$/)
    const json = { ...list, data: [{ ...row, leaf_hash: 'ff'.repeat(32) }] }
    await ada.page.route(/\/v1\/ledger\?id=/, (route) => route.fulfill({ json }))
    await ada.page.goto(`${portal()}/ledger/${receipt}`)
    await ada.page.getByText('Do not trust this receipt').waitFor()
    const failed = await ada.page.locator('.checks li.fails').textContent()
    assert.match(failed ?? '', /^In the log: the ledger has the leaf ffffffff, and this receipt/)
  })

  test('a log that the pinned ones vouch for is added, and a forged one is refused', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    const ours = keyPair()
    const log = makeShard(ours, '2026', { count: 300 })
    const next = makeShard(ours, '2027', { count: 600, link: log.body })
    const forged = makeShard(keyPair(), '2027', { count: 1, link: log.body })
    const { signers } = (await ada.ask('GET', '/.well-known/ergon/receipt-keys.json')).body
    const open = async (of: Made, keys: readonly Made[]) => {
      const receipt = await of.receipt(0)
      await ada.page.unrouteAll()
      await ada.page.route('**/receipt-keys.json', (route) =>
        route.fulfill({ json: { ...receiptKeysJson(keys.map(({ key }) => key)), signers } }),
      )
      await ada.page.route('**/v1/receipts/rcpt_*', (route) =>
        route.fulfill({ contentType: 'text/plain', body: receipt }),
      )
      await ada.context.route('**/.well-known/ergon/logs/**', async (route) => {
        const path = new URL(route.request().url()).pathname.split(`/logs/${of.key.origin}/`)[1]
        const tile = parseTilePath(path ?? '')
        const body =
          tile === undefined
            ? await of.read.checkpoint(of.key.origin)
            : await of.read.tile(of.key.origin, tile)
        await route.fulfill({ body })
      })
      await ada.page.evaluate('location.reload()')
      await ada.page.locator('.checks li').first().waitFor()
      return await ada.page.locator('.checks li').first().textContent()
    }
    const { headers } = await ada.ask('GET', '/v1/balance')
    await ada.page.evaluate("localStorage.removeItem('ergon.receipt-keys')")
    await ada.page.goto(`${portal()}/ledger/${headers['x-receipt-id']}`)
    await ada.page.getByText('Nothing hidden').waitFor()
    await ada.page.evaluate("localStorage.removeItem('ergon.receipt-keys')")
    const signed = /^Signed by three of five signers/
    assert.match((await open(log, [log])) ?? '', signed)
    // The page is that of another charge: a sound receipt of `rcpt_0` is no answer to its id.
    await ada.page.locator('.checks li.fails', { hasText: 'was asked for' }).waitFor()
    assert.match((await open(next, [log, next])) ?? '', signed)
    assert.match((await open(forged, [log, next, forged])) ?? '', /^Signed: another key signs it/)
    await ada.page.getByText('Do not trust this receipt').waitFor()
    await ada.page.getByRole('button', { name: 'Trust the new key' }).click()
    await ada.page.getByRole('button', { name: 'Trust it' }).click()
    await ada.page.locator('.checks li.holds b', { hasText: 'Signed' }).waitFor()
  })

  test('a login of a command line is found by its code and approved', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    await signUpByPages(ada)
    const verifier = 'v'.repeat(43)
    const begun = await post('/v1/logins', {
      name: 'laptop',
      code_challenge: hash('sha256', verifier, 'base64url'),
    })
    await page.goto(`${portal()}/login/approve`)
    await page.getByLabel('The code that the command line shows').fill(String(begun['user_code']))
    await page.keyboard.press('Enter')
    await page.getByText('laptop').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('laptop is signed in').waitFor()
    const taken = await post(`/v1/logins/${String(begun['id'])}/token`, { code_verifier: verifier })
    assert.match(JSON.stringify(taken), /"token":"svc_/)
  })

  test('two tabs of a browser share one live stream', async () => {
    await using ada = await newPerson(browser, portal())
    await signUpByPages(ada)
    // A tab that is hidden hands its stream to the other: what counts is how many are open at once.
    const open = new Set<Request>()
    const counts: number[] = []
    ada.context.on('request', (request) => {
      if (request.url().includes('/v1/live')) counts.push(open.add(request).size)
    })
    for (const event of ['requestfinished', 'requestfailed'] as const)
      ada.context.on(event as 'requestfinished', (request) => void open.delete(request))
    await ada.page.goto(portal())
    await ada.page.locator('.board small').first().waitFor()
    const second = await ada.context.newPage()
    await second.goto(portal())
    await second.locator('.board small').first().waitFor()
    await second.getByText('test money, nothing is owed').waitFor()
    assert.equal(Math.max(...counts), 1, counts.join())
  })

  test('a page asks for no live figures before somebody is signed in', async () => {
    await using nobody = await newPerson(browser, portal(), QUIET_PAGE)
    const asked = asksOf(nobody.page)
    await nobody.page.route('**/v1/session', async (route) => {
      await pause(SETTLED_MS)
      await route.continue()
    })
    await nobody.page.goto(`${portal()}/sign-in`)
    await nobody.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.deepEqual(asked, ['/v1/session'])
    // The delayed question may still wait.
    await nobody.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('the overview asks for what its stream does not tell, once', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { account_id: account } = await signUp(ada, { name: 'watching' })
    await sharedErgon().control('funds.add', { account, pusd: '4999999999999' })
    const asked = asksOf(ada.page)
    await ada.page.goto(portal())
    await ada.page.getByText('At today’s rate it lasts').waitFor()
    await ada.page.locator('.board small').first().waitFor()
    await ada.page.waitForTimeout(SETTLED_MS)
    const counted = ['/v1/session', '/v1/live', '/v1/ledger', '/v1/tokens', 'step=minute'].map(
      (what) => asked.filter((path) => path.includes(what)).length,
    )
    assert.deepEqual(counted, [1, 1, 1, 0, 1], asked.join('\n'))
  })

  test('text of an account is text on every page', async () => {
    await using eve = await newPerson(browser, portal())
    const name = '<img src=x onerror="alert(1)">'
    await signUpByPages(eve, name)
    await pressButton(eve.page, 'Later')
    await eve.page.getByText(name).first().waitFor()
    assert.equal(await eve.page.locator('img').count(), 0)
  })

  test('each page in each theme and size has no fault of axe, and asks no other host', async () => {
    await using ada = await newPerson(browser, portal())
    const { page } = ada
    const watched = watch(page)
    await loadAxe(page)
    await checkPage(page, 'landing')
    await signUpByPages(ada)
    await checkPage(page, 'sign-up')
    await pressButton(page, 'Later')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const { body } = await ada.ask('GET', '/v1/session')
    const account = String(body['account_id'])
    await sharedErgon().control('funds.add', { account, pusd: '4999999999999' })
    await page.goto(`${portal()}/more`)
    await page.getByRole('heading', { name: 'All pages' }).waitFor()
    const paths = await page
      .locator('.more a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    assert.ok(paths.length >= 5, paths.join())
    await page.addInitScript({ content: WATCH_SHIFTS })
    for (const path of ['/more', '/nowhere', ...paths]) {
      const { sum, moved } = await leastShifts(page, portal() + path)
      assert.ok(sum < SHIFT_MAX, `${path} moved by ${sum}: ${moved.join()}`)
      await checkPage(page, path)
    }
    assert.deepEqual(watched(), [])
  })

  test('no column of the ledger cuts its figures', async () => {
    await using ada = await newPerson(browser, portal(), QUIET_PAGE)
    const { account_id: account } = await signUp(ada, { name: 'paying' })
    // 14.999999999997 tUSD: a digit more than one such credit has.
    for (let nth = 0; nth < 3; nth++)
      await sharedErgon().control('funds.add', { account, pusd: '4999999999999' })
    for (let nth = 0; nth < 3; nth++) await ada.ask('GET', '/v1/tokens')
    await ada.page.setViewportSize({ width: 1280, height: 800 })
    await ada.page.goto(`${portal()}/ledger`)
    await ada.page.locator('[data-row] td.num', { hasText: 'ptUSD' }).first().waitFor()
    assert.deepEqual(await ada.page.evaluate(CUT_FIGURES), [])
  })

  test('a section that moves while its page loads is found', async () => {
    await using ada = await newPerson(browser, portal())
    await ada.page.addInitScript({
      content: `${WATCH_SHIFTS}
        addEventListener('load', () => setTimeout(() => {
          document.querySelector('main').style.setProperty('padding-top', '200px')
        }, 500))`,
    })
    const { sum } = await leastShifts(ada.page, portal())
    assert.ok(sum > SHIFT_MAX, String(sum))
  })

  test('axe finds a planted fault', async () => {
    await using ada = await newPerson(browser, portal())
    await loadAxe(ada.page)
    await ada.page.evaluate(`document.documentElement.removeAttribute('lang')`)
    await assert.rejects(checkPage(ada.page, 'landing without a language'), /html-has-lang/)
  })
})

/** Paths of the API that a page asks, from now on. */
function asksOf(page: Page): readonly string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/v1/')) asked.push(pathname + search)
  })
  return asked
}

/** Figures of the ledger that their column cuts. */
const CUT_FIGURES = `[...document.querySelectorAll('.entries td.num')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(sharedErgon().baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, unknown>
}

const figureOf = async (page: Page): Promise<string> =>
  (await page.locator('.register .digits :is(b, i)').allTextContents()).join('')
