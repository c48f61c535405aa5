// ergon login: keeps a token for later calls. A person approves the token at the portal, or it comes from stdin; never from a
// flag, which others on the machine could read.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { loginByBrowser, loginByCode } from '#cli/login.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { baseUrlOf, loginCommand, storeCredentials } from '#cli/profile.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const baseUrl = baseUrlOf(options)
  const token = await tokenBy(options)
  tell(`Logged in to ${baseUrl}; kept in ${storeCredentials({ baseUrl, token })}`)
}

async function tokenBy(options: CommandCall['options']): Promise<string> {
  if (options['device'] === true) {
    const { token } = await loginByCode(options, ({ approve_url: url, user_code: code }) =>
      tell(`Open ${url} on any device where you are signed in, and type this code: ${code}`),
    )
    return token.token
  }
  if (options['browser'] === true || process.stdin.isTTY) {
    const { token } = await loginByBrowser(options, ({ approve_url: url, user_code: code }) => {
      tell(`Open this page and compare the code ${code}:\n${url}`)
      if (process.stdin.isTTY) openPage(url)
    })
    return token.token
  }
  return await tokenFromStdin(options)
}

async function tokenFromStdin(options: CommandCall['options']): Promise<string> {
  const scope = textOption(options, 'scope')
  const login = loginCommand(options, scope)
  const next = `${login} --browser, or ${login} --device`
  // The token has its scope already.
  if (scope !== undefined)
    throw new CommandError('--scope is for a login that a person approves', EXIT.usage, next)
  const token = (await text(process.stdin)).trim()
  if (!token.startsWith('svc_'))
    throw new CommandError('That is no token: it begins with svc_', EXIT.usage, next)
  await apiGet(options, '/v1/models', { token })
  return token
}

/** Where there is a browser. The address was printed: nothing is lost when there is none. */
function openPage(url: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
