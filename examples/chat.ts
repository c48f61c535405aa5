// The OpenAI SDK against Ergon: an answer with its energy headers, then a stream with its usage.
// Run it with Node 24: ERGON_TOKEN=svc_… node_modules/.bin/node examples/chat.ts "Your question"
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: `${process.env['ERGON_BASE_URL'] ?? 'http://localhost:8080'}/v1`,
  apiKey: process.env['ERGON_TOKEN'] ?? '',
})
const content = process.argv[2] ?? 'What is the capital of France?'
const messages = [{ role: 'user' as const, content }]
const request = { model: 'auto', max_tokens: 64, messages }

const { data, response } = await client.chat.completions.create(request).withResponse()
console.log(data.choices[0]?.message.content)
console.log(`${response.headers.get('x-energy-joules')} J by ${data.model}`)
console.log(`receipt ${response.headers.get('x-receipt-id')}`)

const stream = await client.chat.completions.create({
  ...request,
  stream: true,
  stream_options: { include_usage: true },
})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
  // Beyond OpenAI's own fields, so beyond the SDK's types.
  const usage = chunk.usage as { energy_j?: number; carbon_mg?: number } | null | undefined
  if (usage) console.log(`\n${usage.energy_j} J, ${usage.carbon_mg} mg CO2e`)
}
