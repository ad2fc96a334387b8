import icon from '../../../design/icon.svg';
import { GATEWAY_NAME } from '../../../gateway.js';

export function Logo() {
  return (
    <a className="site-brand" href="/">
      <img src={icon} alt="" width="26" height="26" />
      {GATEWAY_NAME}
    </a>
  );
}
