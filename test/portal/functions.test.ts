// The pages of functions in a browser, on a real function: its address, log, versions, budget, suspension and deletion.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { until } from '../functions/function-client.ts'
import { PLAIN } from '../settings.ts'
import {
  done,
  endTouchOf,
  newPerson,
  openBrowser,
  touch,
  withoutBrowser,
  type Person,
} from './browser.ts'
import { buildConsole } from './console-build.ts'
import { checkPage, loadAxe, pressButton, signUpByPages, watch } from './walk.ts'

product(PLAIN)

const NAME = 'hello'
const HOSTILE = '<img src=x onerror="document.title=1">'
const ANSWERS_MS_MAX = 60_000
const codeOf = (word: string) => `export default {
  fetch() {
    console.error(${JSON.stringify(`${HOSTILE} ${word}`)})
    return new Response(${JSON.stringify(word)})
  },
}`

describe('pages of functions', { skip: withoutBrowser }, () => {
  let browser: Browser
  let ada: Person
  let watched: () => readonly string[]
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    ada = await newPerson(browser, portal())
    await signUpByPages(ada, 'functions')
    await pressButton(ada.page, 'Later')
    await ada.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await loadAxe(ada.page)
    watched = watch(ada.page)
  })
  after(() => browser?.close())
  const portal = () => String(sharedErgon().ready['portal_url'])
  const go = (path: string) => ada.page.goto(portal() + path)
  const press = (name: string) =>
    ada.page.getByRole('button', { name, exact: true, disabled: false }).click()
  const row = (text: string) => ada.page.locator('tr', { hasText: text })
  const state = (word: string) => ada.page.locator('.head .state', { hasText: word })

  /** A check ends with a small page. */
  const check = async (name: string) => {
    await checkPage(ada.page, name)
    await ada.page.setViewportSize({ width: 1280, height: 800 })
  }
  /** With a fresh touch: the sign-up may be more than five minutes old. */
  const deployed = async (body: object) => {
    await touch(ada)
    return done(await ada.ask('POST', '/v1/functions', body), 201)
  }
  const deploy = async (word: string) => {
    await deployed({
      name: NAME,
      file: 'hello.js',
      source: codeOf(word),
      energy_budget: '10 kJ/day',
    })
    await answers((text) => text === word)
  }
  const own = async () => done(await ada.ask('GET', `/v1/functions/${NAME}`), 200)
  /** Asks the function by its own address until it answers so. */
  async function answers(isWanted: (text: string, status: number) => boolean): Promise<void> {
    const url = String((await own())['url'])
    const endMs = performance.now() + ANSWERS_MS_MAX
    for (;;) {
      // The address listens from the first function on.
      const answer = await fetch(url).catch(() => undefined)
      const text = (await answer?.text()) ?? ''
      if (answer !== undefined && isWanted(text, answer.status)) return
      assert.ok(performance.now() < endMs, `${answer?.status} ${text}`)
      await pause(200)
    }
  }

  test('without a function the page has the command; with one its state, route and budget', async () => {
    const { page } = ada
    await go('/functions')
    await page.getByRole('heading', { name: 'No functions yet' }).waitFor()
    await check('no functions')
    await deploy('one')
    await go('/functions')
    await row(NAME).getByText('10 kJ/day').first().waitFor()
    await row(NAME).locator('.state', { hasText: 'Deployed' }).waitFor()
    await check('functions')
  })

  test('the page of a function has its address, the deploy command and the log, whose text is never run', async () => {
    const { page } = ada
    await go(`/functions/${NAME}`)
    await page.getByText(String((await own())['url'])).waitFor()
    const today = page.locator('section', { hasText: 'Awake today' })
    await today.locator('summary').click()
    await today.locator('tr', { hasText: 'a deployment' }).first().waitFor()
    await page.getByText(`ergon fn deploy hello.js --name ${NAME}`).waitFor()
    await row(`${HOSTILE} one`).first().waitFor()
    await answers((text) => text === 'one')
    await page.getByLabel('Search').fill('nothing of this kind')
    await page.getByText('No line').waitFor()
    await page.getByLabel('Search').fill('')
    await row(`${HOSTILE} one`).first().waitFor()
    await check('a function')
    assert.notEqual(await page.title(), '1')
  })

  test('the page of a function has its hosts', async () => {
    const { page } = ada
    const hosts = ['hello.example.com', `${'long-'.repeat(12)}a.example.com`]
    await touch(ada)
    done(await ada.ask('PATCH', `/v1/functions/${NAME}`, { routes: hosts }), 200)
    const line = page.getByText(`It answers at these hosts too: ${hosts.join(', ')}`)
    await line.waitFor()
    await check('a function with hosts')
    await touch(ada)
    done(await ada.ask('PATCH', `/v1/functions/${NAME}`, { routes: [] }), 200)
    await line.waitFor({ state: 'detached' })
  })

  test('a second version of a function answers, and the first one again after a roll back', async () => {
    const { page } = ada
    await deploy('two')
    const answering = (version: number) =>
      page
        .getByRole('row', { name: new RegExp(`^${version} hello.js`) })
        .locator('.state', { hasText: 'Answers' })
    await answering(2).waitFor()
    await endTouchOf(ada, sharedErgon())
    await press('Roll back to version 1')
    await press('Roll it back')
    await answers((text) => text === 'one')
    await answering(1).waitFor()
  })

  test('a version that cannot be loaded says why, and the one before goes on', async () => {
    const { page } = ada
    const body = {
      name: NAME,
      file: 'hello.js',
      source: `throw new Error(${JSON.stringify(HOSTILE)})`,
    }
    await deployed(body)
    await page.getByText('Version 1 goes on answering').waitFor()
    await row('Could not start').waitFor()
    await check('a function with a broken version')
    await answers((text) => text === 'one')
  })

  test('the budget of a function is changed; it is suspended and resumed', async () => {
    const { page } = ada
    await press('Budget')
    await page.getByLabel('Most that it may use a day').fill('20 kJ')
    await press('Change it')
    await page.getByText('of 20 kJ/day').waitFor()
    await press('Suspend')
    await press('Suspend it')
    await page.getByText('Suspended by hand').waitFor()
    await state('Suspended').waitFor()
    await answers((_, status) => status === 503)
    await press('Resume')
    await answers((text) => text === 'one')
  })

  test('the page of a function has its joules by the hour, as bars and as a table', async () => {
    const { page } = ada
    const { body } = await until(
      () => ada.ask('GET', `/v1/functions/${NAME}/energy`),
      ({ body: energy }) => (energy['data'] as readonly object[]).length > 0,
    )
    await go(`/functions/${NAME}`)
    const hours = page.locator('section', { hasText: 'Joules an hour' })
    await hours.locator('svg rect.functions').first().waitFor()
    await hours.locator('summary').click()
    const rows = hours.locator('tbody tr')
    assert.equal(await rows.count(), (body['data'] as readonly object[]).length)
    await check('a function with its joules by the hour')
  })

  test('a run for an object that failed for good is listed with its error, and run again', async () => {
    const { page } = ada
    const put = (path: string) => page.evaluate(`fetch('/s3/${path}', { method: 'PUT' })`)
    const deployWorker = async (code: string) => {
      return await deployed({
        name: 'worker',
        file: 'worker.js',
        source: `export default ${code}`,
        on: ['bucket/portal-objects/object-created'],
        schedule: '5 4 1 1 *',
      })
    }
    await put('portal-objects')
    const { id } = await deployWorker("() => { throw new Error('not today') }")
    await until(
      () => ada.ask('GET', '/v1/functions/worker'),
      ({ body }) => body['live_version'] === 1,
    )
    await put('portal-objects/%3Cb%3E.txt')
    await makeLastAttempt(String(id))
    await go('/functions/worker')
    await page.getByText('5 4 1 1 *').waitFor()
    await page.getByText('1 run failed for good').waitFor()
    await row('portal-objects/<b>.txt').getByText('its code failed').waitFor()
    await check('a function with a failed run')
    await deployWorker('() => new Response()')
    await row('worker.js').nth(1).waitFor()
    await page
      .getByRole('row', { name: /^2 worker.js/ })
      .locator('.state', { hasText: 'Answers' })
      .waitFor()
    await press('Run again: portal-objects/<b>.txt')
    await row('portal-objects/<b>.txt').waitFor({ state: 'detached' })
    await until(
      () => ada.ask('GET', '/v1/functions/worker'),
      ({ body }) => body['runs_waiting'] === 0 && body['runs_failed'] === 0,
    )
    await sharedErgon().sql(
      `insert into function_runs (function, event, data, attempts, created_at)
       select $1, 'schedule', jsonb_build_object('scheduled_at', '2026-01-0' || n || 'T04:05:00Z'), 6, now()
       from generate_series(1, 3) n`,
      [id],
    )
    await page.getByText('3 runs failed for good').waitFor()
    await press('Discard: 2026-01-02T04:05:00Z')
    await check('the discard of a run')
    await press('Discard it')
    await page.getByText('2 runs failed for good').waitFor()
    await row('2026-01-02T04:05:00Z').waitFor({ state: 'detached' })
    await press('Discard all')
    await press('Discard them')
    await page.getByText('failed for good').waitFor({ state: 'detached' })
    done(await ada.ask('DELETE', '/v1/functions/worker'), 200)
    await go(`/functions/${NAME}`)
  })

  /** In place of hours of attempts. */
  async function makeLastAttempt(id: string): Promise<void> {
    const { sql } = sharedErgon()
    const tried = (attempts: number) =>
      until(
        () => sql('select attempts from function_runs where function = $1', [id]),
        ([run]) => Number(run?.['attempts']) === attempts,
      )
    await tried(1)
    await sql('update function_runs set attempts = 5, next_at = now() where function = $1', [id])
    await sql('update functions set rest_until = null where id = $1', [id])
    await sql("select pg_notify('ergon_followed', '')")
    await tried(6)
  }

  test('a function is deleted once its name is typed', async () => {
    const { page } = ada
    await press('Delete')
    await page.getByLabel(`Type ${NAME} to go on`).fill(NAME)
    await press('Delete it')
    await page.getByRole('heading', { name: 'No functions yet' }).waitFor()
    assert.equal((await ada.ask('GET', `/v1/functions/${NAME}`)).status, 404)
    assert.deepEqual(watched(), [])
  })
})
