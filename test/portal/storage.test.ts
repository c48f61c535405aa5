// Storage on the portal's origin: S3 below /s3 with the session as the credential. Uploads are data for the console's
// scripts, and never a page, a script or a frame of the portal.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { storedBuckets } from '#contract/storage/storage-buckets.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { newClient, signUpSoftly, type PortalClient, type Sent } from './client.ts'

product(PLAIN)

const PAGE = '<script src="/s3/ada-pages/run.js"></script>'
const AT = '/s3/ada-pages/a%20b/%3Cpage%3E.html'

describe('storage on the portal', () => {
  let ada: PortalClient
  const put = (text: string, sent: Sent = {}) =>
    ada.ask('PUT', AT, undefined, {
      text,
      ...sent,
      headers: { 'content-type': 'text/html', ...sent.headers },
    })
  before(async () => {
    ada = newClient(sharedErgon())
    await signUpSoftly(ada, { name: 'stores' })
    assert.equal((await ada.ask('PUT', '/s3/ada-pages')).status, 200)
    assert.equal((await put(PAGE)).status, 200)
  })

  test('a session puts, lists, reads and deletes, and is charged', async () => {
    const read = await ada.ask('GET', AT)
    assert.deepEqual([read.status, read.text], [200, PAGE])
    assert.match(String(read.headers['x-receipt-id']), /^rcpt_/)
    const list = await ada.ask('GET', '/s3/ada-pages?list-type=2&delimiter=/')
    assert.match(list.text, /<CommonPrefixes><Prefix>a b\/<\/Prefix>/)
    assert.match((await ada.ask('GET', '/s3/')).text, /<Name>ada-pages<\/Name>/)
    const again = await put('other', { headers: { 'if-none-match': '*' } })
    assert.equal(again.status, 412)
    await ada.ask('PUT', '/s3/ada-pages/gone', undefined, { text: 'x' })
    assert.equal((await ada.ask('DELETE', '/s3/ada-pages/gone')).status, 204)
    assert.equal((await ada.ask('GET', '/s3/ada-pages/gone')).status, 404)
  })

  test('buckets are listed with the bytes that are stored in each', async () => {
    const bucket = async () => {
      const { text } = await ada.ask('GET', '/v1/storage/buckets')
      const { data } = storedBuckets.parse(JSON.parse(text))
      return data.find(({ name }) => name === 'ada-pages')
    }
    const putLarge = (bytes: number) =>
      ada.ask('PUT', '/s3/ada-pages/large', undefined, { text: 'x'.repeat(bytes) })
    const before = await bucket()
    await putLarge(3000)
    const small = await bucket()
    await putLarge(5000)
    const after = await bucket()
    // Its name and content type count too.
    assert.equal((after?.stored_bytes ?? 0) - (small?.stored_bytes ?? 0), 2000)
    assert.equal((after?.versions ?? 0) - (before?.versions ?? 0), 1)
    await ada.ask('DELETE', '/s3/ada-pages/large')
    assert.deepEqual(await bucket(), before)
  })

  test('no browser keeps an answer, whatever the object says, and no other origin reads one', async () => {
    const at = '/s3/ada-pages/kept'
    const headers = {
      'cache-control': 'public, max-age=31536000',
      expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
    }
    assert.equal((await ada.ask('PUT', at, undefined, { text: 'x', headers })).status, 200)
    const rule =
      '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>'
    const cors = await ada.ask('PUT', '/s3/ada-pages?cors', undefined, {
      text: `<CORSConfiguration>${rule}</CORSConfiguration>`,
    })
    assert.equal(cors.status, 200, cors.text)
    for (const path of [at, `${at}?response-cache-control=max-age%3D60`, '/s3/ada-pages/none']) {
      const elsewhere = { headers: { origin: 'https://evil.example' } }
      const { status, headers: got } = await ada.ask('GET', path, undefined, elsewhere)
      assert.equal(status, path.endsWith('none') ? 404 : 200)
      assert.doesNotMatch(String(got['cache-control']), /max-age|public/, path)
      assert.match(String(got['cache-control']), /no-store/, path)
      const names = Object.keys(got).filter((name) => /^access-control-|^expires$/.test(name))
      assert.deepEqual(names, [], path)
    }
  })

  test('no answer can become a page: its policy is a sandbox that allows nothing', async () => {
    for (const path of [AT, '/s3/', '/s3/nobody/x']) {
      const { headers } = await ada.ask('GET', path)
      // Storage adds a policy of its own to the header of objects. Browsers enforce both policies.
      const policies = String(headers['content-security-policy']).split(', ')
      assert.ok(policies.includes("default-src 'none'; sandbox; frame-ancestors 'none'"), path)
      if (path === AT) assert.equal(headers['x-content-type-options'], 'nosniff')
    }
  })

  test('browsers get it for scripts of the portal alone', async () => {
    for (const headers of [
      { 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-dest': 'script', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-dest': 'serviceworker', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' },
      { 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-site' },
    ] as const) {
      const { status, body } = await ada.ask('GET', AT, undefined, { headers })
      assert.deepEqual([status, body.error?.code], [403, 'origin_refused'], JSON.stringify(headers))
    }
    const own = { 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }
    assert.equal((await ada.ask('GET', AT, undefined, { headers: own })).status, 200)
  })

  test('nothing without a session, from another origin, or of another account', async () => {
    assert.equal((await ada.ask('GET', AT, undefined, { cookie: '' })).status, 401)
    assert.equal((await put('stolen', { origin: 'https://evil.example' })).status, 403)
    assert.equal((await ada.ask('GET', AT)).text, PAGE)
    const eve = newClient(sharedErgon())
    await signUpSoftly(eve, { name: 'reads others' })
    assert.equal((await eve.ask('GET', AT)).status, 403)
    assert.equal((await eve.ask('DELETE', AT)).status, 403)
    assert.equal((await ada.ask('GET', AT)).text, PAGE)
  })
})
