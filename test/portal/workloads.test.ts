// The pages of workloads and deployments in a browser: a stack that `ergon deploy` made, its log, versions, budget,
// suspension and deletion, a deployment that fails, and one that is cancelled.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { writeServerImage } from '../workloads/image.ts'
import { ask, until } from '../workloads/workload-client.ts'
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

const HOSTILE = '<img src=x onerror="document.title=1">'
/** The mounts of volumes do. */
const NEEDS_ROOT = { skip: process.getuid?.() !== 0 && 'needs root' }

describe('pages of workloads', { skip: withoutBrowser }, () => {
  let folder: string
  let ergon: Ergon
  let browser: Browser
  let ada: Person
  let token: string
  let watched: () => readonly string[]
  before(async () => {
    await buildConsole()
    folder = mkdtempSync(join(tmpdir(), 'ergon-pages-'))
    // Cells have uids of their own.
    chmodSync(folder, 0o755)
    writeServerImage(join(folder, 'images/server'))
    ergon = await startErgon({ env: { ERGON_IMAGE_FOLDER: join(folder, 'images') } })
    browser = await openBrowser()
    ada = await newPerson(browser, portal())
    await signUpByPages(ada, 'workloads')
    await pressButton(ada.page, 'Later')
    await ada.page.getByRole('heading', { name: 'Overview' }).waitFor()
    const made = await ada.ask('POST', '/v1/tokens', { name: 'deploys', scope: 'deploy' })
    token = String(done(made, 201)['token'])
    await loadAxe(ada.page)
    watched = watch(ada.page)
  })
  after(async () => {
    await browser?.close()
    await ergon?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const portal = () => String(ergon.ready['portal_url'])
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
  const show = async () => done(await ada.ask('GET', '/v1/workloads/api'), 200)
  const answers = async (status: number, text?: string) => {
    const url = String((await show())['url'])
    await until(
      () => ask(url),
      (answer) => answer.status === status && (text === undefined || answer.text === text),
    )
  }

  /** As a person at a terminal, with a token of the account. */
  async function deploy(blocks: string, code = 0): Promise<void> {
    mkdirSync(join(folder, 'shop'), { recursive: true })
    const file = join(folder, 'shop/ergon.hcl')
    writeFileSync(file, blocks)
    const made = await ergon.commands.run({
      words: ['deploy', '--file', file, '--yes'],
      env: {
        PATH: process.env['PATH'] ?? '',
        ERGON_BASE_URL: ergon.baseUrl,
        ERGON_TOKEN: token,
        XDG_CONFIG_HOME: join(folder, 'config'),
      },
    })
    assert.equal(made.code, code, made.stderr)
  }
  const workload = (more: string, image = 'server') => `workload "api" {
    image         = "oci:${folder}/images/${image}:v1"
    energy_budget = "250 kJ/day"
    ${more}
  }
  output "address" {
    value       = workload.api.url
    description = "Where it answers"
  }`

  test('without any, both pages have the command', async () => {
    const { page } = ada
    for (const [path, title] of [
      ['/workloads', 'No workloads yet'],
      ['/deployments', 'No deployments yet'],
    ] as const) {
      await go(path)
      await page.getByRole('heading', { name: title }).waitFor()
      await check(title)
    }
  })

  test('a password of a registry is kept, set anew and forgotten; no answer has it', async () => {
    const { page } = ada
    const kept = async () => done(await ada.ask('GET', '/v1/registries'), 200)['data']
    await go('/workloads')
    await page.getByText('None is kept').waitFor()
    await press('Add a password')
    await page.getByLabel('Registry', { exact: true }).fill('not a host')
    await page.getByLabel('User').fill('reader')
    await page.getByLabel('Password, or').fill('s3cret-of-registry')
    await press('Keep it')
    await page.getByText('That did not work').waitFor()
    await page.getByLabel('Registry', { exact: true }).fill('registry.example.com:5000')
    await press('Keep it')
    await row('registry.example.com:5000').getByRole('cell', { name: 'reader' }).waitFor()
    await check('passwords of registries')
    assert.doesNotMatch(await page.content(), /s3cret-of-registry/)
    await press('Set anew')
    await page.getByLabel('User').fill('writer')
    await page.getByLabel('Password, or').fill('another')
    await press('Keep it')
    await row('registry.example.com:5000').getByRole('cell', { name: 'writer' }).waitFor()
    const [first] = (await kept()) as readonly { readonly username: string }[]
    assert.equal(first?.username, 'writer')
    await press('Forget')
    await press('Forget it')
    await page.getByText('None is kept').waitFor()
    assert.deepEqual(await kept(), [])
  })

  test('a deployment of the command line is listed with its steps and outputs', async () => {
    const { page } = ada
    await deploy(workload('env = { VERSION = "one" }'))
    await go('/deployments')
    await row('shop').locator('.state', { hasText: 'Done' }).waitFor()
    await check('deployments')
    await page.getByRole('link', { name: /^dep_/ }).click()
    await page.getByRole('heading', { name: 'Deployment of shop' }).waitFor()
    await row('workload.api').locator('div', { hasText: 'energy_budget 250 kJ/day' }).waitFor()
    await page.getByText('Where it answers').waitFor()
    await page.getByText(String((await show())['url'])).waitFor()
    await check('a deployment')
    await page.getByRole('link', { name: 'workload.api' }).click()
    await page.getByRole('heading', { name: 'api', exact: true }).waitFor()
  })

  test('the page of a workload has its address, facts, settings and log; it answers', async () => {
    const { page } = ada
    await answers(200, 'hello from version one\n')
    await go('/workloads')
    await row('250 kJ/day').locator('.state', { hasText: 'Deployed' }).waitFor()
    await check('workloads')
    await page.getByRole('link', { name: 'api' }).click()
    await page.getByText('of 250 kJ/day').waitFor()
    // The watts are of the meter's last second.
    await page
      .locator('.facts dd')
      .first()
      .getByText(/^0\.\d+.W/)
      .waitFor()
    await page.getByText(String((await show())['url'])).waitFor()
    await row('listening on 8080').first().waitFor()
    await page.locator('.pairs').getByText('VERSION').waitFor()
    const today = page.locator('section', { hasText: 'Awake today' })
    await today.locator('summary').click()
    await today.locator('tr', { hasText: 'a deployment or its scale' }).first().waitFor()
    await page.getByLabel('Search').fill('nothing of this kind')
    await page.getByText('No line').waitFor()
    await page.getByLabel('Search').fill('')
    await row('listening on 8080').first().waitFor()
    await check('a workload')
  })

  test('a second version of a workload answers, and the first one again after a roll back', async () => {
    const { page } = ada
    await deploy(workload('env = { VERSION = "two" }'))
    const answering = (version: number) =>
      page
        .getByRole('row', { name: new RegExp(`^${version} server:v1`) })
        .locator('.state', { hasText: 'Answers' })
    await answering(2).waitFor()
    await endTouchOf(ada, ergon)
    await press('Roll back to version 1')
    await press('Roll it back')
    await answering(1).waitFor()
    await answers(200, 'hello from version one\n')
  })

  test('an image that is missing fails the deployment, and the version before goes on', async () => {
    const { page } = ada
    await deploy(workload(`env = { ODD = ${JSON.stringify(HOSTILE)} }`, 'missing'), 1)
    await page.getByText('Version 1 goes on answering').waitFor()
    await go('/deployments')
    await row('shop').locator('.state', { hasText: 'Failed' }).waitFor()
    await page.getByRole('link', { name: /^dep_/ }).first().click()
    await page.getByText('0 done, 1 failed, 0 not done.').waitFor()
    await row('workload.api').locator('.state', { hasText: 'Failed' }).waitFor()
    await row('ergon.hcl:1:1').waitFor()
    await check('a failed deployment')
    await answers(200, 'hello from version one\n')
  })

  test('the button of a running deployment cancels it, once the question is answered', async () => {
    const { page } = ada
    // The workload's port never opens, so its step runs for minutes.
    const description = `workload "never" {
      image   = "oci:${folder}/images/server:v1"
      command = ["/usr/bin/perl", "-e", "sleep"]
    }
    webhook "after" {
      url         = "https://example.com/ergon"
      events      = ["balance.low"]
      description = workload.never.url
    }`
    await touch(ada)
    const request = { stack: 'stopped', description }
    const { id } = done(await ada.ask('POST', '/v1/deployments', request), 201)
    const statusNow = async () =>
      done(await ada.ask('GET', `/v1/deployments/${String(id)}`), 200)['status']
    await go(`/deployments/${String(id)}`)
    await row('workload.never').locator('.state', { hasText: 'Running' }).waitFor()
    await page.getByText('0 of 2 steps are done.').waitFor()
    await press('Cancel')
    await page.getByText('No further step begins.').waitFor()
    await check('the question before a cancellation')
    await press('Keep it')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await statusNow(), 'running')
    await press('Cancel')
    await press('Cancel it')
    await state('Cancelled').waitFor()
    await page.getByText('0 done, 1 failed, 1 not done.').waitFor()
    await row('workload.never').getByText('deployment_cancelled').waitFor()
    await row('webhook.after').locator('.state', { hasText: 'Not done' }).waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' })
    assert.equal(await statusNow(), 'cancelled')
    assert.deepEqual(done(await ada.ask('GET', '/v1/webhooks'), 200)['data'], [])
    await check('a cancelled deployment')
    done(await ada.ask('DELETE', '/v1/workloads/never'), 200)
  })

  test('the budget and scale of a workload are changed; it is suspended and resumed', async () => {
    const { page } = ada
    await go('/workloads/api')
    await endTouchOf(ada, ergon)
    await press('Scale and budget')
    await page.getByLabel('Least instances').fill('1')
    await page.getByLabel('Most instances').fill('2')
    assert.equal(await page.getByLabel('Requests at once of each instance').inputValue(), '50')
    await page.getByLabel('Requests at once of each instance').fill('7')
    await page.getByLabel('Most that it may use a day').fill('20 kJ')
    await check('the dialog of a workload')
    await press('Change it')
    await page.getByText('of 20 kJ/day').waitFor()
    await page.getByText('1 to 2, of 7 requests at once each, never asleep').waitFor()
    assert.deepEqual((await show())['scale'], { min: 1, max: 2, target_requests: 7 })
    await press('Suspend')
    await press('Suspend it')
    await page.getByText('Suspended by hand').waitFor()
    await state('Suspended').waitFor()
    await answers(503)
    await press('Resume')
    await answers(200, 'hello from version one\n')
  })

  test('events of a workload are listed, the newest first', async () => {
    const { page } = ada
    await go('/events')
    await row('workload.deployed').first().waitFor()
    const numbers = await page.locator('td.num').allTextContents()
    assert.deepEqual(
      numbers.map(Number),
      numbers.map(Number).toSorted((a, b) => b - a),
    )
    await page.getByRole('button', { name: 'workload.deployed' }).first().click()
    await page.getByLabel('Event', { exact: true }).getByText('"workload_name": "api"').waitFor()
    await check('events')
    await go('/workloads/api')
  })

  test(
    'the words of a volume: its room, that it costs while nothing runs, and that it goes',
    NEEDS_ROOT,
    async () => {
      const { page } = ada
      // The sign-up may be more than five minutes old.
      await touch(ada)
      const made = await ada.ask('POST', '/v1/workloads', {
        name: 'keeps',
        image: `oci:${folder}/images/server:v1`,
        volumes: [{ name: 'data', path: '/data', size: '16MB' }],
      })
      done(made, 201)
      await go('/workloads/keeps')
      await state('Deployed').waitFor()
      await page.getByText(/^data at \/data, [\d.]+.[kM]?B of 16.0.MB$/).waitFor()
      await page
        .getByText('While it sleeps, only the stored bytes of its images and volumes cost')
        .waitFor()
      await press('Suspend')
      await page
        .getByText('Nothing is deleted, and the stored bytes of its images and volumes cost')
        .waitFor()
      await press('Suspend it')
      await page
        .getByText(
          'Callers get 503. Nothing is deleted, and the stored bytes of its images and volumes cost',
        )
        .waitFor()
      await press('Delete')
      await page.getByText(/, and the data of its volumes: data \([\d.]+.[kM]?B\), and/).waitFor()
      await page.getByLabel('Type keeps to go on').fill('keeps')
      await press('Delete it')
      await row('keeps').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'api' }).click()
      await page.getByRole('heading', { name: 'api', exact: true }).waitFor()
    },
  )

  test('a workload is deleted once its name is typed', async () => {
    const { page } = ada
    await press('Delete')
    await page.getByLabel('Type api to go on').fill('api')
    await press('Delete it')
    await page.getByRole('heading', { name: 'No workloads yet' }).waitFor()
    assert.equal((await ada.ask('GET', '/v1/workloads/api')).status, 404)
    assert.notEqual(await page.title(), '1')
    assert.deepEqual(watched(), [])
  })
})
