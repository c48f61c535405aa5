// A request of the API as code to copy: the shapes that the guides show.
type Asked = {
  readonly apiUrl: string
  /** Undefined: the code names the variable that has it. */
  readonly token: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}
export type Language = 'curl' | 'Python' | 'TypeScript'

const VARIABLE = 'ERGON_TOKEN'

export const codeOf: Readonly<Record<Language, (asked: Asked) => string>> = {
  curl: ({ apiUrl, token, body }) =>
    [
      `curl -i ${apiUrl}/v1/chat/completions \\`,
      `  -H "Authorization: Bearer ${token ?? `$${VARIABLE}`}" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
    ].join('\n'),
  Python: ({ apiUrl, token, body }) =>
    [
      ...(token === undefined ? ['import os'] : []),
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url="${apiUrl}/v1", api_key=${token === undefined ? `os.environ["${VARIABLE}"]` : `"${token}"`})`,
      `answer = client.chat.completions.create(**${pythonOf(body)})`,
      'print(answer.choices[0].message.content, answer.usage.energy_j)',
    ].join('\n'),
  TypeScript: ({ apiUrl, token, body }) =>
    [
      `import OpenAI from 'openai'`,
      '',
      `const client = new OpenAI({ baseURL: '${apiUrl}/v1', apiKey: ${token === undefined ? `process.env.${VARIABLE}` : `'${token}'`} })`,
      `const answer = await client.chat.completions.create(${JSON.stringify(body)})`,
      'console.log(answer.choices[0].message.content, answer.usage)',
    ].join('\n'),
}

/** A value as Python writes it: JSON, except for true, false and null. */
const pythonOf = (value: unknown): string => {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}: ${pythonOf(inner)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
