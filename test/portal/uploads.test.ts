// Uploads in parts: another file of the same name, size and time begins anew, whatever of the first has arrived. An upload is
// done when storage says so, and not before.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newPerson, QUIET_PAGE, signUp, withoutBrowser, type Person } from './browser.ts'
import { consoleOfFile } from './console-of-file.ts'

/** Three parts. */
const BYTES = 17 * 2 ** 20
const CHANGED_S = 1_700_000_000

product(PLAIN)

describe('uploads in parts', { skip: withoutBrowser }, () => {
  const browser = consoleOfFile()
  const portal = () => String(sharedErgon().ready['portal_url'])
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ergon-uploads-'))
  })
  after(() => rmSync(folder, { recursive: true }))
  const path = () => join(folder, 'film.bin')
  /** The SHA-256 of the file. */
  const write = (letter: string): string => {
    const bytes = Buffer.alloc(BYTES, letter)
    writeFileSync(path(), bytes)
    utimesSync(path(), CHANGED_S, CHANGED_S)
    return hash('sha256', bytes)
  }
  const openBucket = async (ada: Person, name: string) => {
    await signUp(ada, { name })
    assert.equal((await ada.ask('PUT', `/s3/${name}`)).status, 200)
    await ada.page.goto(`${portal()}/storage/${name}`)
  }
  const choose = (ada: Person) => ada.page.locator('input[type=file]').setInputFiles(path())

  test('another file of one name does not go on with the parts of the first', async () => {
    await using ada = await newPerson(browser(), portal(), QUIET_PAGE)
    const { page, ask } = ada
    await openBucket(ada, 'films')
    const uploads = async () => String((await ask('GET', '/s3/films?uploads')).body['text'])
    write('a')
    await page.route('**partNumber=2*', (route) => route.abort())
    const second = page.waitForRequest(/partNumber=2/)
    await choose(ada)
    await second
    assert.match(await uploads(), /<UploadId>/)
    await page.unroute('**partNumber=2*')
    await page.goto(`${portal()}/storage/films`)
    await page.getByText('is not finished').waitFor()
    const sum = write('b')
    await choose(ada)
    await page.getByRole('link', { name: 'film.bin' }).waitFor()
    assert.equal(await page.evaluate(SUM), sum)
    assert.doesNotMatch(await uploads(), /<UploadId>/)
  })

  test('an error in an answer that began as a success is no success', async () => {
    await using ada = await newPerson(browser(), portal(), QUIET_PAGE)
    await openBucket(ada, 'errors')
    write('c')
    await ada.page.route('**/s3/errors/film.bin?uploadId=*', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ contentType: 'application/xml', body: LATE_ERROR })
        : route.continue(),
    )
    await choose(ada)
    await ada.page.getByText('film.bin was not uploaded').waitFor()
    await ada.page.getByText('InternalError').waitFor()
  })
})

const LATE_ERROR =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>Try again</Message></Error>'

/** SHA-256 of the object, in hex. */
const SUM = `fetch('/s3/films/film.bin')
  .then((answer) => answer.arrayBuffer())
  .then((bytes) => crypto.subtle.digest('SHA-256', bytes))
  .then((sum) => Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, '0')).join(''))`
