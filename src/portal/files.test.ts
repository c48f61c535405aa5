import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { createLogger } from '#base/log.ts'
import { createFiles } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-pages-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const BASE_URL = 'http://127.0.0.1:8080'
const log = createLogger('test', { level: 'error', write: () => undefined })

function build(mark: string, page: string): void {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), page)
  writeFileSync(join(folder, 'index.html.br'), `br ${page}`)
  writeFileSync(join(folder, 'assets', 'a.js'), 'a()')
  writeFileSync(join(folder, 'secret.ts'), 'no file of the site')
  writeFileSync(join(folder, '.built'), mark)
}

test('createFiles() has nothing before a build, then the files of the newest one', async () => {
  let nowMs = 0
  const files = createFiles({
    folder,
    places: { base_url: BASE_URL },
    clock: { monotonicMs: () => nowMs },
    log,
  })
  assert.equal(await files(), undefined)
  build('one', 'first')
  assert.equal(await files(), undefined, 'it looks once a second')
  nowMs += 1000
  const first = await files()
  assert.deepEqual([...(first?.keys() ?? [])].toSorted(), ['/assets/a.js', '/index.html'])
  assert.equal(first?.get('/index.html')?.br?.toString(), 'br first')
  assert.equal(first?.get('/assets/a.js')?.gz, undefined)
  // Files without the mark are a build that has not ended.
  writeFileSync(join(folder, 'index.html'), 'second')
  nowMs += 1000
  assert.equal((await files())?.get('/index.html')?.bytes.toString(), 'first')
  build('two', 'second')
  nowMs += 1000
  const second = await files()
  assert.equal(second?.get('/index.html')?.bytes.toString(), 'second')
  assert.notEqual(second?.get('/index.html')?.etag, first?.get('/index.html')?.etag)
})

test('a page has the address of the API in its place, in each form of it', async () => {
  const files = createFiles({
    folder,
    places: { base_url: BASE_URL },
    clock: { monotonicMs: () => 0 },
    log,
  })
  build('three', '<pre>curl {base_url}/v1</pre>')
  const page = (await files())?.get('/index.html')
  assert.equal(page?.bytes.toString(), `<pre>curl ${BASE_URL}/v1</pre>`)
  assert.equal(brotliDecompressSync(page?.br ?? '').toString(), page?.bytes.toString())
  assert.equal(page?.gz, undefined, 'the build has no such form')
})

test('an address in an attribute of a page does not end the attribute', async () => {
  const baseUrl = 'http://127.0.0.1:8080/"><i>'
  const files = createFiles({
    folder,
    places: { base_url: baseUrl },
    clock: { monotonicMs: () => 0 },
    log,
  })
  build('four', '<meta content="{base_url}">')
  const page = (await files())?.get('/index.html')?.bytes.toString()
  assert.equal(page, '<meta content="http://127.0.0.1:8080/&quot;>&lt;i>">')
})
