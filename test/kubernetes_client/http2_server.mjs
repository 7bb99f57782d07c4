// A small HTTP/2 server on 127.0.0.1 for curl_transport_test.
//
//     http2_server.mjs FOLDER
//
// FOLDER has server.pem and server.key. Prints its port; ends when its input
// ends, or after five minutes.
import {readFileSync} from 'node:fs';
import {createSecureServer} from 'node:http2';

const folder = process.argv[2];
const hits = {};
let sessions = 0;
const server = createSecureServer({
  cert: readFileSync(folder + '/server.pem'),
  key: readFileSync(folder + '/server.key'),
});
server.on('session', () => ++sessions);
server.on('request', (request, response) => {
  hits[request.url] = (hits[request.url] ?? 0) + 1;
  if (request.url === '/endless') {
    response.write('begun');
  } else if (request.url === '/swallow') {
    request.stream.session.destroy();
  } else {
    response.end(JSON.stringify({version: request.httpVersion, sessions, hits}));
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
setTimeout(() => process.exit(1), 300_000);
