// Where clients on the machine of the service connect to databases.
/** The unix socket for clients of the same machine, as libpq names it; each proxy has one in its folder. */
export const LOCAL_SOCKET = '.s.PGSQL.5432'
/** The folder of the first proxy, in the folder of sockets. */
export const FIRST_PROXY_FOLDER = 'pg-proxy/pg-proxy-1'
