export default {
  fetch(_: Request, env: Record<string, string>): Response {
    return new Response(`${env['GREETING']} ${env['BUCKET']}\n`)
  },
}
