#pragma once
namespace foretrace {
class Policy;
}
