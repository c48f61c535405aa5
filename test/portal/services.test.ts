// Pages of services in a browser, on real data: a file is uploaded, shown, shared and deleted, a database suspended, resumed
// and restored, a delivery read and replayed, a member invited, passkeys and codes changed. Nothing of an account is ever run.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { product, sharedErgon } from '../product.ts'
import { MODELS } from '../settings.ts'
import { done, newPerson, openBrowser, withoutBrowser, type Person } from './browser.ts'
import { endTouch } from './client.ts'
import { buildConsole } from './console-build.ts'
import { checkPage, loadAxe, pressButton, signUpByPages, watch } from './walk.ts'

product(MODELS)

const HOSTILE = '<img src=x onerror="document.title=1">'
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>document.title=1</script></svg>'
const PAGE = '<script>document.title=1</script><h1>page</h1>'
/** A database is made in seconds; beside other work of two cores it took minutes. */
const READY_MS_MAX = 300_000
const POSTED_MS_MAX = 90_000
/** Eight parts. */
const LARGE_BYTES = 64 * 2 ** 20
const fileOf = (name: string, mimeType: string, text: string) => ({
  name,
  mimeType,
  buffer: Buffer.from(text),
})

/** Its list of backups, after a day on which the energy budget was used up. */
const FAILED_BACKUPS = {
  object: 'list',
  restorable_from: null,
  restorable: [],
  log_lost_from: null,
  stored_bytes: 0,
  data: [
    {
      id: 'bkp_1',
      object: 'database.backup',
      database: 'db_1',
      kind: 'nightly',
      status: 'failed',
      reason: `today's energy budget of this database is used up. Raise it: ergon db budget tiny "<energy>/day", or wait until it is renewed at 00:00 UTC.`,
      done_bytes: 0,
      total_bytes: null,
      stored_bytes: 0,
      created_at: '2026-11-27T14:32:22.000Z',
      ended_at: '2026-11-27T14:32:22.000Z',
    },
  ],
}

describe('pages of services', { skip: withoutBrowser }, () => {
  let browser: Browser
  let ada: Person
  let watched: () => readonly string[]
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    ada = await newPerson(browser, portal())
    await signUpByPages(ada, 'services')
    await pressButton(ada.page, 'Later')
    await ada.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await loadAxe(ada.page)
    // Pictures come from the storage's own origin.
    watched = watch(ada.page, new URL(sharedErgon().baseUrl).origin)
  })
  after(() => browser.close())
  const portal = () => String(sharedErgon().ready['portal_url'])
  const memberOf = async ({ page }: Person) =>
    await page.evaluate(
      "fetch('/v1/session').then((a) => a.json()).then(({ member }) => member.id)",
    )
  const go = (path: string) => ada.page.goto(portal() + path)
  const press = (name: string) =>
    ada.page.getByRole('button', { name, exact: true, disabled: false }).click()
  const ready = () =>
    ada.page.locator('.head .state', { hasText: 'Deployed' }).waitFor({ timeout: READY_MS_MAX })
  const row = (text: string) => ada.page.locator('tr', { hasText: text })

  test('a file is uploaded, shown without being run, shared and deleted', async () => {
    const { page } = ada
    await go('/storage')
    await press('New bucket')
    await page.getByLabel('Name').fill('pages-of-services')
    await press('Make the bucket')
    await page.getByRole('heading', { name: 'pages-of-services' }).waitFor()
    const input = page.locator('input[type=file]')
    await input.setInputFiles([
      fileOf('picture.svg', 'image/svg+xml', PICTURE),
      fileOf('page.html', 'text/html', PAGE),
      fileOf(`${HOSTILE}.txt`.replaceAll('/', ''), 'text/plain', HOSTILE),
    ])
    await row(HOSTILE).waitFor()
    await input.setInputFiles(fileOf('page.html', 'text/html', 'other'))
    await press('Keep the old one')
    await page.getByRole('link', { name: 'page.html' }).click()
    await page.locator('pre.preview', { hasText: PAGE }).waitFor()
    await checkPage(page, 'an object')
    await page.getByRole('link', { name: 'picture.svg' }).click()
    await page.locator('img.preview').waitFor()
    const picture = `document.querySelector('img.preview')`
    assert.equal(await page.evaluate(`${picture}.decode().then(() => ${picture}.naturalWidth)`), 40)
    await press('Make the link')
    const link = await page.locator('pre[aria-label=Link]').textContent()
    assert.equal(await (await fetch(link ?? '')).text(), PICTURE)
    await press('Delete')
    await press('Delete it')
    await row('picture.svg').waitFor({ state: 'detached' })
    assert.equal((await fetch(link ?? '')).status, 404)
    assert.equal(await page.title(), 'pages-of-services · Ergon')
  })

  test('a file that is dropped on the list is uploaded', async () => {
    const { page } = ada
    await go('/storage/pages-of-services/a/b/')
    await page.getByText('Nothing below this prefix').waitFor()
    const files = await page.evaluateHandle(`(() => {
      const files = new DataTransfer()
      files.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }))
      return files
    })()`)
    await page.dispatchEvent('.drop-zone', 'drop', { dataTransfer: files })
    await row('dropped.txt').waitFor()
    await page.getByRole('link', { name: 'pages-of-services' }).click()
    await page.getByRole('link', { name: 'a/', exact: true }).waitFor()
  })

  test('a large file goes on where it was cut off, and is whole', async () => {
    const { page } = ada
    const bytes = randomBytes(LARGE_BYTES)
    const folder = await mkdtemp(join(tmpdir(), 'ergon-upload-'))
    const file = join(folder, 'large.bin')
    await writeFile(file, bytes)
    const sent: string[] = []
    const fifth = Promise.withResolvers<void>()
    await page.route('**/s3/**partNumber=*', async (route) => {
      const part = new URL(route.request().url()).searchParams.get('partNumber') ?? ''
      sent.push(part)
      // The second is lost once, and the fifth never ends while the page is open.
      if (part === '2' && sent.filter((one) => one === '2').length === 1) await route.abort()
      else if (part !== '5' || sent.filter((one) => one === '5').length > 1) await route.continue()
      else fifth.resolve()
    })
    await go('/storage/pages-of-services/')
    await page.locator('input[type=file]').setInputFiles(file)
    await fifth.promise
    // A part may be sent again on a busy machine; the second must be.
    assert.deepEqual([...new Set(sent)], ['1', '2', '3', '4', '5'])
    assert.ok(sent.filter((one) => one === '2').length >= 2)
    const before = sent.length
    await page.reload()
    await page.getByText('is not finished').waitFor()
    await checkPage(page, 'an upload that was cut off')
    await page.locator('input[type=file]').setInputFiles(file)
    await row('large.bin').waitFor()
    assert.deepEqual([...new Set(sent.slice(before))], ['5', '6', '7', '8'])
    const answer = await page.evaluateHandle(`fetch('/s3/pages-of-services/large.bin')
      .then((answer) => answer.arrayBuffer())
      .then((all) => crypto.subtle.digest('SHA-256', all))
      .then((digest) => [...new Uint8Array(digest)])`)
    assert.deepEqual(await answer.jsonValue(), [...createHash('sha256').update(bytes).digest()])
    await page.unroute('**/s3/**partNumber=*')
    await rm(folder, { recursive: true })
  })

  test('an upload in parts that is stopped leaves no part', async () => {
    const { page } = ada
    await go('/storage/pages-of-services/')
    await page.route('**/s3/**partNumber=2*', () => undefined)
    const second = page.waitForRequest(/partNumber=2/)
    await page.locator('input[type=file]').setInputFiles({
      name: 'stopped.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(LARGE_BYTES / 2),
    })
    await second
    const removed = page.waitForResponse((answer) => answer.request().method() === 'DELETE')
    await press('Stop')
    assert.equal((await removed).status(), 204)
    await page.getByRole('list', { name: 'Uploads' }).waitFor({ state: 'detached' })
    const left = await page.evaluate(
      `fetch('/s3/pages-of-services?uploads').then((answer) => answer.text())`,
    )
    assert.doesNotMatch(String(left), /<Upload>/)
    await page.unroute('**/s3/**partNumber=2*')
  })

  test('an address leads to an object, to a prefix, and to nothing that is not there', async () => {
    const { page } = ada
    await go('/storage/pages-of-services/a/b/dropped.txt')
    await page.locator('pre.preview', { hasText: 'dropped' }).waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    assert.equal(new URL(page.url()).pathname, '/storage/pages-of-services/a/b/')
    await row('dropped.txt').waitFor()
    await go('/storage/pages-of-services/a/b/none.txt')
    await page.getByText('There is no such object').waitFor()
    await go('/storage/no-such-bucket-of-mine/')
    await page.getByText('The list of objects could not be read').waitFor()
    await go('/databases/no-such-database')
    await page.getByText('There is no such database').waitFor()
  })

  test('a database is made, suspended, resumed and deleted by its name', async () => {
    const { page } = ada
    await go('/databases')
    await press('New database')
    await page.getByLabel('Name').fill('by-page')
    await press('Make the database')
    await ready()
    await page.getByText('At most').waitFor()
    await page
      .getByLabel('SQL')
      .fill(`select n, '${HOSTILE}' as body from generate_series(1, 600) n`)
    await page.keyboard.press('Control+Enter')
    await page.getByText(/600 rows in .* for .*J, and at most .*J of its server/).waitFor()
    await page.getByRole('cell', { name: HOSTILE }).first().waitFor()
    assert.ok((await page.locator('.found tbody tr').count()) < 60, 'rows in view alone are drawn')
    await page.getByLabel('SQL').fill('delete from nothing')
    await press('Run')
    await page.getByText('relation "nothing" does not exist').waitFor()
    await page.getByLabel('SQL').fill('create table written (n int)')
    await press('Run')
    await page.getByText('To write, connect to the address of the database').waitFor()
    // The list is of the last reading of the server.
    await page
      .getByText(/They are read 3 s after|first minute of the server|at rest between queries/)
      .first()
      .waitFor()
    await checkPage(page, 'a database')
    await ada.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await endTouch(sharedErgon(), await memberOf(ada))
    await press('Copy connection string')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const address = String(await page.evaluate('navigator.clipboard.readText()'))
    assert.match(address, /^postgresql:\/\/\w+:[^•@]+@/)
    await press('Suspend')
    await press('Suspend it')
    await page.getByText('Suspended by hand').waitFor()
    await press('Resume')
    await ready()
    await press('Delete')
    const remove = page.getByRole('button', { name: 'Delete it' })
    assert.ok(await remove.isDisabled())
    await page.getByLabel('Type by-page to go on').fill('by-page')
    await remove.click()
    await page.getByText('No databases yet').waitFor()
  })

  test('roles of a database are made, renewed and deleted; a backup is made, restored, deleted', async () => {
    const { page } = ada
    done(await ada.ask('POST', '/v1/databases', { name: 'with-roles', size: '256MB' }), 201)
    await page.setViewportSize({ width: 1280, height: 800 })
    await go('/databases/with-roles')
    await ready()
    await row('owns the database').waitFor()
    await press('New role')
    await page.getByLabel('Name').fill('reporting')
    await page.getByLabel('Reads only').check()
    await endTouch(sharedErgon(), await memberOf(ada))
    await press('Make the role')
    await ada.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const reporting = row('reporting')
    const passwordOf = async () => {
      await reporting.getByRole('button', { name: 'Copy connection string' }).click()
      await reporting.getByRole('button', { name: 'Copied' }).waitFor()
      return new URL(String(await page.evaluate('navigator.clipboard.readText()'))).password
    }
    const old = await passwordOf()
    await reporting.getByRole('button', { name: 'Rotate password' }).click()
    await press('Rotate it')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await reporting.getByRole('button', { name: 'Copy connection string' }).waitFor()
    assert.notEqual(await passwordOf(), old)
    await press('Back up now')
    const byHand = row('manual')
    await byHand.locator('.state', { hasText: 'Done' }).waitFor({ timeout: READY_MS_MAX })
    await checkPage(page, 'a database with roles and backups')
    await page.setViewportSize({ width: 1280, height: 800 })
    await byHand.getByRole('button', { name: 'Restore' }).click()
    assert.equal(
      await page.getByLabel('Name of the new database').inputValue(),
      'with-roles-restored',
    )
    await press('Restore it')
    await page.getByRole('heading', { name: 'with-roles-restored' }).waitFor()
    await ready()
    await go('/databases/with-roles')
    await press('Restore a time')
    const time = page.getByLabel('Time, UTC')
    const now = await time.inputValue()
    await time.fill('2020-01-01T00:00:00')
    await press('Restore it')
    // The browser refuses a time before the first backup.
    assert.equal(await page.locator('input[type=datetime-local]:invalid').count(), 1)
    await time.fill(now)
    await page.getByLabel('Name of the new database').fill('of-a-time')
    await press('Restore it')
    await page.getByRole('heading', { name: 'of-a-time' }).waitFor()
    await ready()
    await go('/databases/with-roles')
    await byHand.getByRole('button', { name: 'Delete' }).click()
    await press('Delete it')
    await byHand.waitFor({ state: 'detached' })
    await reporting.getByRole('button', { name: 'Delete' }).click()
    await press('Delete it')
    await reporting.waitFor({ state: 'detached' })
  })

  test('the reason of a failed backup wraps in its column, and a wrong name is told once', async () => {
    const { page } = ada
    await go('/databases')
    await press('New database')
    await page.getByLabel('Name').fill('Bad Name')
    await press('Make the database')
    const told = page.getByText('must begin with a letter')
    await told.first().waitFor()
    assert.deepEqual(await Promise.all((await told.all()).map((one) => one.isVisible())), [
      true,
      false,
    ])
    await press('Not now')
    done(await ada.ask('POST', '/v1/databases', { name: 'unpaid', size: '256MB' }), 201)
    await page.route('**/v1/databases/*/backups*', (route) =>
      route.fulfill({ json: FAILED_BACKUPS }),
    )
    await go('/databases/unpaid')
    await page.getByText('is used up').first().waitFor({ state: 'attached' })
    await checkPage(page, 'a failed backup')
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /Raise it/)
    await page.unroute('**/v1/databases/*/backups*')
  })

  test('a delivery that failed shows the answer as text, and is sent again', async () => {
    const { page } = ada
    const receiver = await answering(500, PAGE)
    await go('/webhooks')
    await press('New webhook')
    await page.getByLabel('Address').fill(receiver.url)
    await page.getByLabel('What is it for?').fill(HOSTILE)
    await endTouch(sharedErgon(), await memberOf(ada))
    await press('Make the webhook')
    await page.getByText('It is shown only now').waitFor()
    await press('I have it')
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    await press('Send test')
    await press('Send it')
    await page.locator('tr .state', { hasText: 'Is tried again' }).waitFor()
    await page.getByRole('button', { name: 'balance.low' }).click()
    await page.locator('.story pre', { hasText: PAGE }).waitFor()
    await checkPage(page, 'a delivery')
    await press('Replay a time')
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^\d+ due now\.$/)
      .waitFor()
    await press('Close')
    await endTouch(sharedErgon(), await memberOf(ada))
    await press('Pause')
    await page.getByText('Nothing is sent; deliveries wait').waitFor()
    await press('Delete')
    await press('Delete it')
    await page.getByText('No webhooks yet').waitFor()
    receiver.server.close()
  })

  test('usage by resource names the account itself for what its webhooks send', async () => {
    const { page } = ada
    await go('/usage?by=resource')
    await page.locator('tbody tr').first().waitFor()
    const own = row('the account itself: what its webhooks send')
    // A charge is posted seconds after its delivery.
    for (const lastMs = Date.now() + POSTED_MS_MAX; Date.now() < lastMs; await page.reload()) {
      await page.locator('tbody tr').first().waitFor()
      if ((await own.count()) > 0) break
    }
    await own.waitFor()
    await checkPage(page, 'usage by resource')
  })

  test('a member is invited with a touch, by a link that is shown once', async () => {
    const { page } = ada
    await go('/members')
    await press('Invite')
    await page.getByLabel('Name').fill(HOSTILE)
    await press('Make the link')
    const link = await page.locator('pre[aria-label=Link]').textContent()
    assert.match(link ?? '', /^http:\/\/portal\.localhost:\d+\/sign-up#inv_/)
    await press('I have it')
    await row(HOSTILE).waitFor()
    await go('/audit?action=member.invite')
    await row('member.invite').waitFor()
    await checkPage(page, 'the audit log')
  })

  test('passkeys are added and removed but for the last, codes renewed, a sign-in ended', async () => {
    const { page } = ada
    await go('/settings')
    await row('first passkey').getByRole('button', { name: 'Remove', disabled: true }).waitFor()
    await press('Add a passkey')
    // The first authenticator has a passkey of this person already.
    await ada.addAuthenticator({ transport: 'usb' })
    await page.getByLabel('Name of this device').fill('second')
    await press('Create a passkey')
    await row('second').waitFor()
    await page.getByText(/^none of [\d,]+ requests$/).waitFor()
    await checkPage(page, 'settings')
    const publicName = async () =>
      done(await ada.ask('GET', '/v1/account/error-rate'), 200)['public_name']
    const before = await publicName()
    await press('New public name')
    await press('Take a new name')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.notEqual(await publicName(), before)
    await page.getByText(String(await publicName())).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the account' }).click(),
    ])
    assert.match(readFileSync(await download.path(), 'utf8'), /^\{.*services/)
    await row('second').getByRole('button', { name: 'Remove' }).click()
    await press('Remove it')
    await row('second').waitFor({ state: 'detached' })
    await press('Make new codes')
    await page.locator('.codes li').nth(9).waitFor()
    await press('I have kept them')
    await page.getByLabel('Theme').selectOption('dark')
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await press('Sign out')
    await page.locator('#name').waitFor()
  })

  test('no page ran anything of the account, asked another host or broke its policy', async () => {
    assert.deepEqual(watched(), [])
  })
})

/** A receiver on this machine that answers everything with a status and a page. */
async function answering(status: number, text: string) {
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(text))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  return { server, url: `http://127.0.0.1:${port}/events` }
}
