export default {
  fetch(_: Request, env: Record<string, string>): Response {
    const { protocol, pathname } = new URL(env['DATABASE_URL'] ?? '')
    return new Response(`${protocol} ${pathname.slice(1)}\n`)
  },
}
