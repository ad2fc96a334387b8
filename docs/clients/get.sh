# Sends a request with your key, and keeps the head of the answer. 22 = refused.
request() { curl -sS --fail-with-body -D head.txt -H "Authorization: Bearer $API_KEY" "$@"; }
# A header of the last answer.
header() { tr -d '\r' < head.txt | sed -n "s/^$1: //Ip"; }
# Waits as long as a refusal says, or ends the script.
patience() { sleep "$(header retry-after)" 2> /dev/null || exit 22; }
# Reads a URL into page.json.
get() {
  until request -o page.json "$@"; do
    case $? in
      22) [ "$(header content-type)" ] && cat page.json >&2; patience ;;
      *) sleep 2 ;;
    esac
  done
}
