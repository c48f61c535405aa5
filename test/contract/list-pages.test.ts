// Every list with pages takes the same parameters, and refuses the same of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationOf } from '#contract/operations.ts'
import { ROUTES } from '#contract/routes.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

// Operations of the portal alone: test/operator/portal.test.ts.
const LISTS = ROUTES.filter(
  ({ method, operation, query = [] }) =>
    method === 'GET' && query.includes('cursor') && operationOf(operation).onPortal !== true,
)
const BAD_LIMITS = ['0', '1001', '1e1', '-1', '+5', '1.5', '05', ' 5', 'x', '']
const BAD_CURSORS = ['', '..', "1'", '~', 'x'.repeat(300)]

type Page = {
  object?: string
  has_more?: boolean
  next_cursor?: null
  title?: string
  error?: { param: string }
}

async function ask(path: string): Promise<{ status: number; page: Page }> {
  const { baseUrl, token } = sharedErgon()
  const answer = await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, page: (await answer.json()) as Page }
}

test('each list takes limit and cursor, and nothing else for them', async () => {
  assert.ok(LISTS.length >= 7, LISTS.map(({ path }) => path).join())
  for (const { path, query } of LISTS) {
    assert.ok(query?.includes('limit'), path)
    // A list of one thing has nothing to list here.
    const { status, page } = await ask(`${path}?limit=1000`)
    if (path.includes(':')) assert.equal(status, 404, path)
    else
      assert.deepEqual(
        [status, page.object, page.has_more, page.next_cursor],
        [200, 'list', false, null],
      )
    const bad = {
      limit: BAD_LIMITS,
      cursor: BAD_CURSORS,
    }
    for (const [param, texts] of Object.entries(bad))
      for (const text of texts) {
        const refused = await ask(`${path}?${param}=${encodeURIComponent(text)}`)
        assert.deepEqual(
          [refused.status, refused.page.title, refused.page.error?.param],
          [400, 'invalid_request', param],
          `${path} ${param}=${text}`,
        )
      }
  }
})
