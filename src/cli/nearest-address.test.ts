import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FIRST_PROXY_FOLDER, LOCAL_SOCKET } from '#contract/databases/database-socket.ts'
import { nearestAddress } from './nearest-address.ts'
import { toolAddress } from './tool-address.ts'

const URL_FAR = 'postgresql://u_1:secret@db.example.com:5432/notes?sslmode=require'

test("a connection string goes by the socket where the service is on this machine, whatever the database's host is called", () => {
  const data = mkdtempSync(join(tmpdir(), 'ergon-near-'))
  try {
    writeFileSync(join(data, 'ergon.json'), JSON.stringify({ port: 23000, runFolder: data }))
    assert.equal(nearestAddress({ data }, URL_FAR), URL_FAR, 'there is no socket')
    mkdirSync(join(data, FIRST_PROXY_FOLDER), { recursive: true })
    writeFileSync(join(data, FIRST_PROXY_FOLDER, LOCAL_SOCKET), '')
    for (const baseUrl of [undefined, 'http://localhost:23000', 'http://127.0.0.1:23000/v1']) {
      const near = nearestAddress({ data, ...(baseUrl !== undefined && { baseUrl }) }, URL_FAR)
      const { uri, password, needsTls } = toolAddress(near)
      assert.equal(needsTls, false)
      assert.equal(password, 'secret')
      const parameters = new URL(uri).searchParams
      assert.equal(parameters.get('host'), join(data, FIRST_PROXY_FOLDER))
      // PGSSLMODE=require of the user would make libpq refuse the socket.
      assert.equal(parameters.get('sslmode'), 'disable')
    }
    for (const baseUrl of ['https://api.example.com', 'http://localhost:23001'])
      assert.equal(nearestAddress({ data, baseUrl }, URL_FAR), URL_FAR, baseUrl)
  } finally {
    rmSync(data, { recursive: true })
  }
})
