// The metrics of a node with two gateways, whichever of them is asked.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { test } from 'node:test'
import { METRICS_TOKEN, PLAIN, TWO_GATEWAYS } from '../settings.ts'
import { metricFaults } from '../contract/metric-rules.ts'
import { product, sharedErgon } from '../product.ts'

product(PLAIN, TWO_GATEWAYS)

const SCRAPES = 6

/** On a connection of its own each time: the kernel chooses the gateway. */
const scrape = () =>
  new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const url = `${sharedErgon().baseUrl}/metrics`
    const asked = request(url, { headers, agent: false }, (answer) =>
      textOf(answer).then(resolve, reject),
    )
    asked.once('error', reject)
    asked.end()
  })

test('each gateway prints the figures of both, each by its name', async () => {
  for (let nth = 0; nth < SCRAPES; nth++) {
    const page = await scrape()
    assert.deepEqual(metricFaults(page), [])
    for (const name of ['gw-1', 'gw-2']) {
      assert.match(page, new RegExp(`^ergon_session_fresh\\{gateway="${name}"\\} 1$`, 'm'))
      assert.match(page, new RegExp(`^ergon_node_power_watts\\{gateway="${name}"\\} `, 'm'))
    }
  }
})
