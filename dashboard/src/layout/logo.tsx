export function Logo() {
  return (
    <p className="logo">
      <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width="28" height="28" />
      Petstore Gateway
    </p>
  );
}
