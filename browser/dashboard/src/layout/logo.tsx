import icon from '../../../design/icon.svg';

export function Logo() {
  return (
    <a className="site-brand" href="/">
      <img src={icon} alt="" width="26" height="26" />
      Petstore Gateway
    </a>
  );
}
